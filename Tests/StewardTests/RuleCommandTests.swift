import Chat
import ChatServer
import Foundation
import FoundationXML
import JSON
import Testing

@testable import steward

/// The commands that look at rules, by the built program, as a shell or a CI system calls it.
@Suite(.timeLimit(.minutes(3))) struct RuleCommands {
    /// A configuration that logs in nowhere.
    static let config = """
        accounts:
          twilio: {service: twilio, identity: steward, endpoint: "ws://127.0.0.1:9", token: {url: "http://127.0.0.1:9"}, join: [general]}
        storage: {file: steward.db}
        """

    static let bot = """
        version: 1
        rules:
          greeting:
            when: messageAdded
            if: {text: [hello]}
            cooldown: 1m per user
            do: [{reply: "Hello, {{ user.name }}."}]
            examples: {match: [hello]}
            tests:
              - {name: it greets & <more>, steps: [{say: hello, as: ana, expect: {reply: "Hello, ana"}}]}
        """

    struct Shell {
        let folder: Tools.Folder

        init(_ files: [String: String] = ["bots/bot.yaml": RuleCommands.bot]) throws {
            folder = try Tools.Folder(["config.yaml": RuleCommands.config])
            try FileManager.default.createDirectory(
                atPath: folder.path + "/bots", withIntermediateDirectories: true)
            for (name, text) in files { try folder.write(name, text) }
        }

        func run(_ words: String...) async throws -> (code: Int32?, output: String, errors: String) {
            let (command, more) = (words[0], Array(words.dropFirst()))
            return try await RuleCommands.run([command, "--config", folder.path + "/config.yaml"] + more)
        }
    }

    static func run(_ words: [String]) async throws -> (
        code: Int32?, output: String, errors: String
    ) {
        let program = try Program.file().path()
        let result = try await ChildProcess.run([program] + words, timeout: .seconds(120))
        return (
            result.exitCode, String(decoding: result.output, as: UTF8.self),
            String(decoding: result.errors, as: UTF8.self)
        )
    }

    // MARK: The store

    @Test func `rules and replay read the store of a steward that runs, and of one that has ended`()
        async throws
    {
        try await TestBed.run { bed, general in
            let config = bed.usualConfig.replacing(
                "{file: steward.db}", with: "{file: steward.db, keep_events: 7d}")
            let steward = try bed.steward(config)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            try await bed.server.post("good day", in: general, as: "ana")
            try await bed.server.post("hello and good day", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", count: 2, in: general)
            let others = bed.folder.appending(path: "others")
            try FileManager.default.createDirectory(at: others, withIntermediateDirectories: true)
            try bed.write(TestBed.bot.replacing("[hello]", with: "[good]"), to: "others/bot.yaml")
            func look(_ command: String...) async throws -> String {
                let file = bed.folder.appending(path: "config.yaml").path()
                let end = try await Self.run([command[0], "--config", file] + command.dropFirst())
                #expect(end.code == 0, "\(end.errors)")
                return end.output
            }
            func compare() async throws {
                let replayed = try JSON(
                    parsing: Array(
                        try await look("replay", "--since", "7d", "--rules", others.path(), "--json").utf8))
                #expect(replayed["rule"]?.string == "greeting")
                #expect((replayed["matches"]?.int, replayed["matches_new"]?.int) == (2, 2))
                #expect(
                    replayed["only_old"]?.array == ["messageAdded by ana in general: \"hello\""])
                #expect(
                    replayed["only_new"]?.array == ["messageAdded by ana in general: \"good day\""])
                let listed = try JSON(parsing: Array(try await look("rules", "--json").utf8))
                #expect(listed["matches_30d"]?.int == 2)
                #expect(listed["last_failure"] == .null)
            }
            try await compare()
            #expect(try await look("rules").contains("  1. greeting"))
            #expect(try await look("rules").contains("2 times a day"))
            #expect(try await steward.stop() == .fine)
            try await compare()
            let exported = bed.folder.appending(path: "events.jsonl").path()
            let count = try await look("replay", "--export", exported)
            #expect(count.hasSuffix(" events in \(exported)\n"))
            let again = try JSON(
                parsing: Array(try await look("replay", "--events", exported, "--json").utf8))
            #expect(again["matches"]?.int == 2)
        }
    }

    /// What is told of one rule.
    func told(_ rule: String, in output: String) throws -> JSON {
        try #require(
            output.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
                .first { $0["rule"]?.string == rule })
    }

    @Test func `explain tells what would happen now, by what a steward that runs remembers`() async throws {
        let bot = """
            version: 1
            counters: {hellos: {per: user, keep: forever}}
            ladders: {conduct: {forgive: never, steps: {3: [{mute: 1h}]}}}
            modes: {raid: {clears_after: 1h}}
            rules:
              bad:
                when: [messageAdded, messageEdited]
                if: {text: [darn]}
                do: [delete, {strike: 2}]
              raid-begins:
                when: [messageAdded, messageEdited]
                if: {text: [raiders]}
                do: [{enter_mode: raid}]
              loud: {when: [messageAdded, messageEdited], if: {text: [loud]}, do: [{mute: 1h}]}
              old-hand: {when: messageAdded, if: {user: {messages: 3+}}, do: [{log: old}]}
              flood: {when: messageAdded, if: {rate: 5 messages in 1h per user}, do: [{log: flood}]}
              raided: {when: messageAdded, if: {mode: raid}, do: [{log: raid}]}
              greeting:
                when: messageAdded
                if: {text: [hello]}
                cooldown: 1h per channel
                do: [{count: {hellos: +1}}, {reply: "Hello, {{ user.name }}."}]
              how-often: {when: messageAdded, if: {text: [often]}, do: [{reply: "{{ counters.hellos }} times"}]}
            """
        try await TestBed.run { bed, general in
            let config = bed.usualConfig.replacing(
                "{file: steward.db}", with: "{file: steward.db, keep_events: 7d}")
            try bed.write(config, to: "config.yaml")
            try bed.write(bot, to: "bots/bot.yaml")
            func explain(_ text: String, _ more: String...) async throws -> String {
                let file = bed.folder.appending(path: "config.yaml").path()
                let end = try await Self.run(
                    ["explain", "--config", file, "--say", text, "--in", "general"] + more)
                #expect(end.code == 0 && end.errors == "", "\(end.errors)")
                return end.output
            }
            let before = try await explain("hello", "--as", "ana")
            #expect(before.contains("as if nothing was remembered (ana is new"))
            let steward = try bed.steward(config, bot: bot)
            await steward.transcript.wait(for: "ready: ")
            for text in ["hello", "raiders", "darn"] {
                try await bed.server.post(text, in: general, as: "ana")
            }
            try await bed.server.join(general, as: "max")
            try await bed.server.post("loud", in: general, as: "max")
            try await bed.server.post("how often", in: general, as: "ana")
            await bed.wait(for: "1 times", in: general)
            for isRunning in [true, false] {
                if !isRunning { #expect(try await steward.stop() == .fine) }
                let hello = try await explain("hello", "--as", "ana", "--json")
                #expect(
                    try told("greeting", in: hello)["reason"]?.string?
                        .hasPrefix("no: it rests for another 59 minutes") == true)
                for rule in ["old-hand", "flood", "raided"] {
                    let told = try told(rule, in: hello)
                    #expect(told["matches"]?.bool == true, "\(told)")
                    #expect(told["asks_memory"]?.bool == false)
                }
                let often = try await explain("how often", "--as", "ana", "--json")
                #expect(
                    try told("how-often", in: often)["actions"]?[0]?.string == "reply in general: 1 times")
                let bad = try await explain("darn", "--as", "ana", "--json")
                #expect(
                    try told("bad", in: bad)["actions"]?.array?.contains { "\($0)".contains("mute") } == true)
                let muted = try await explain("hello", "--as", "max", "--all")
                #expect(muted.contains("\nsteward itself removes the message: max is muted here\n"))
                #expect(muted.contains("not asked: steward itself removed the message"))
                let text = try await explain("hello", "--as", "ana", "--all")
                #expect(!text.contains("steward itself"))
                #expect(text.hasSuffix("/steward.db remembers\n"))
                let other = try await explain("hello", "--as", "ben", "--all")
                #expect(other.contains("remembers, which is nothing of a user \"ben\""))
                #expect(try told("old-hand", in: await explain("hello", "--json"))["matches"]?.bool == false)
            }
        }
    }

    @Test func `explain knows the roles of kept events, and says what they do not tell`()
        async throws
    {
        let bot = """
            version: 1
            rules:
              first: {when: messageAdded, in: general, if: {text: [hello]}, do: [{reply: "Hello, {{ user }}!"}]}
              member: {when: messageAdded, if: {user: {role: villager}}, do: [{log: a villager}]}
            """
        try await TestBed.run { bed, general in
            let config =
                bed.usualConfig.replacing("{file: steward.db}", with: "{file: steward.db, keep_events: 7d}")
                + "\nroles: {villager: {twilio: \"channel user\"}}\n"
            let steward = try bed.steward(config, bot: bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.join(general, as: "ben")
            try await bed.server.post("hello", in: general, as: "ben")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana!", in: general)
            #expect(try await steward.stop() == .fine)

            func explain(_ user: String, in channel: String) async throws -> String {
                let file = bed.folder.appending(path: "config.yaml").path()
                let end = try await Self.run(
                    ["explain", "--config", file, "--say", "help", "--as", user, "--in", channel, "--all"])
                #expect(end.code == 0 && end.errors == "", "\(end.errors)")
                return end.output.split { $0.isWhitespace }.joined(separator: " ")
            }
            let ana = try await explain("ana", in: "general")
            #expect(ana.contains("/bots/bot.yaml:4) matches"), "\(ana)")
            #expect(ana.hasSuffix("/steward.db remembers"), "\(ana)")
            let ben = try await explain("ben", in: "direct")
            #expect(ben.contains("/bots/bot.yaml:4) matches"), "\(ben)")
            #expect(
                ben.hasSuffix(
                    " no event of a direct channel with ben is kept, so nothing of it is looked up"), "\(ben)"
            )
            let eve = try await explain("eve", in: "general")
            #expect(!eve.contains("/bots/bot.yaml:4) matches"), "\(eve)")
            #expect(
                eve.hasSuffix(
                    " no event of eve is kept, so their roles are not known: --role NAMES lends them"),
                "\(eve)")
        }
    }

    @Test func `explain never makes a store, and says when it cannot look into it`() async throws {
        let shell = try Shell()
        let none = try await shell.run("explain", "--say", "hello")
        #expect(none.code == 0 && none.errors == "")
        #expect(!FileManager.default.fileExists(atPath: shell.folder.path + "/steward.db"))
        try shell.folder.write("steward.db", "not a database")
        let foreign = try await shell.run("explain", "--say", "hello")
        #expect(foreign.code == 1)
        #expect(foreign.errors.hasPrefix("steward explain: the store cannot be looked at: "))
        #expect(foreign.output.contains("as if nothing was remembered"))
        #expect(shell.folder.read("steward.db") == "not a database")
    }

    @Test func `a store that is missing, foreign or of a later steward is named`() async throws {
        let shell = try Shell()
        let none = try await shell.run("rules")
        #expect(none.code == 0)
        #expect(none.output.hasSuffix("there is no store yet, so nothing is known of what matched\n"))
        let nothing = try await shell.run("replay")
        #expect(nothing.code == 1)
        #expect(nothing.errors.contains("there is no store yet - name a file of events with --events"))
        for (text, what) in [("", "this is no store of steward's"), ("not a database", "is not a database")] {
            try shell.folder.write("steward.db", text)
            for command in ["rules", "replay"] {
                let end = try await shell.run(command)
                #expect(end.code == 1)
                #expect(end.errors.contains("steward.db: ") && end.errors.contains(what), "\(end.errors)")
            }
        }
        #expect(shell.folder.read("steward.db") == "not a database")
    }

    // MARK: Tests

    /// The attributes of the elements of an XML file, and whether it is well formed.
    private final class XML: NSObject, XMLParserDelegate {
        var elements: [(name: String, attributes: [String: String])] = []
        var isWellFormed = false

        init(_ text: String) {
            super.init()
            let parser = XMLParser(data: Data(text.utf8))
            parser.delegate = self
            isWellFormed = parser.parse()
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
            qualifiedName: String?, attributes: [String: String]
        ) {
            elements.append((name, attributes))
        }

        func attributes(of name: String) -> [[String: String]] {
            elements.filter { $0.name == name }.map(\.attributes)
        }
    }

    @Test func `test writes its results as XML, with what fails and what kept tests from running`()
        async throws
    {
        let shell = try Shell()
        let file = shell.folder.path + "/results.xml"
        #expect(try await shell.run("test", "--junit", file).code == 0)
        var xml = XML(shell.folder.read("results.xml"))
        #expect(xml.isWellFormed)
        #expect(xml.attributes(of: "testcase").map { $0["name"] } == ["examples", "it greets & <more>"])
        #expect(xml.attributes(of: "failure").isEmpty)

        try shell.folder.write("bots/bot.yaml", Self.bot.replacing("Hello, {{", with: "Bye, <{{"))
        let failed = try await shell.run("test", "--junit", file)
        #expect(failed.code == 1)
        #expect(
            failed.output.contains(
                "bots/bot.yaml:10:44: error: test \"it greets & <more>\" of \"greeting\", step 1"))
        #expect(failed.output.contains("1 of 1 example and 1 test does not hold"))
        xml = XML(shell.folder.read("results.xml"))
        #expect(xml.isWellFormed)
        #expect(xml.attributes(of: "testsuites").first?["failures"] == "1")
        #expect(xml.attributes(of: "failure").count == 1)

        // Older results must not be taken for those of rules that cannot be read.
        try shell.folder.write("bots/bot.yaml", "rules: 5\n")
        #expect(try await shell.run("test", "--junit", file).code == 1)
        xml = XML(shell.folder.read("results.xml"))
        #expect(xml.isWellFormed)
        #expect(xml.attributes(of: "testcase").map { $0["name"] } == ["the rules can be read"])
        #expect(xml.attributes(of: "failure").count == 1)
    }

    @Test func `test with watch runs again when a file changes`() async throws {
        let shell = try Shell()
        let process = Process()
        process.executableURL = try Program.file()
        process.arguments = ["test", "--watch", "--config", shell.folder.path + "/config.yaml"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        defer {
            // What ends programs politely may be ignored here, by a steward in this process, and then there, too.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        var text = ""
        func wait(for words: String) {
            while !text.contains(words), case let data = output.fileHandleForReading.availableData,
                !data.isEmpty
            {
                text += String(decoding: data, as: UTF8.self)
            }
            #expect(text.contains(words))
            text = ""
        }
        wait(for: "1 example and 1 test hold")
        try shell.folder.write("bots/bot.yaml", Self.bot.replacing("Hello, {{", with: "Bye, {{"))
        wait(for: "1 of 1 example and 1 test does not hold")
        try shell.folder.write("bots/bot.yaml", "rules: 5\n")
        wait(for: "error: ")
        // A new file is seen, too.
        try shell.folder.write("bots/bot.yaml", Self.bot)
        try shell.folder.write(
            "bots/more.yaml", "version: 1\nrules: {more: {when: memberJoined, do: [{send: x}]}}\n")
        wait(for: "1 example and 1 test hold")
    }
}
