import Chat
import Foundation
import Seeds
import Testing

@testable import Rules

let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

/// The files of a folder of fixtures, by name.
func files(in folder: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: fixtures.appending(path: folder).path())
    return (names ?? []).filter { !$0.hasPrefix(".") }.sorted()
}

@Suite struct BrokenFileTests {
    /// A fixture's first lines, `#! 3:9: error: …`, say what is to be said about it.
    @Test(arguments: files(in: "broken"))
    func `every mistake is shown at its place, and all at once`(_ name: String) throws {
        let text = try String(contentsOf: fixtures.appending(path: "broken/\(name)"), encoding: .utf8)
        let expected = text.split(separator: "\n").prefix { $0.hasPrefix("#! ") }.map {
            "\(name):\($0.dropFirst(3))"
        }
        let findings = RuleSet.load(
            [BotSource(name: name, bytes: Array(text.utf8))], directory: Scene.directory()
        ).findings
        #expect(findings.map(\.description) == expected)
        for finding in findings {
            #expect(finding.report.split(separator: "\n", omittingEmptySubsequences: false).count == 3)
        }
    }

    @Test func `there are fixtures`() {
        #expect(files(in: "broken").count > 50)
    }

    @Test func `the report has the source line and a caret`() {
        let text = "version: 1\nrules:\n  it:\n    when: mesageAdded\n    do: [{reply: hi}]\n"
        let report = RuleSet.load([BotSource(name: "bots/x.yaml", bytes: Array(text.utf8))]).findings.first?
            .report
        #expect(
            report == """
                bots/x.yaml:4:11: error: unknown event "mesageAdded" - did you mean "messageAdded"?
                        when: mesageAdded
                              ^
                """)
    }

    @Test func `names are taken on trust without config yaml, and it says so once`() {
        let text = """
            version: 1
            rules:
              a: {when: messageAdded, in: [den, den], if: {user: {role: king}}, do: [{relay: den}]}
            """
        let loaded = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))])
        #expect(loaded.rules != nil)
        #expect(
            loaded.findings.map(\.description) == [
                "x.yaml:3:32: warning: channel \"den\" is not checked without config.yaml",
                "x.yaml:3:61: warning: role \"king\" is not checked without config.yaml",
            ])
    }

    @Test func `names are shared by all files of a load`() {
        func load(_ second: String) -> [String] {
            let files = [
                (
                    "a.yaml",
                    "version: 1\nlists: {l: [x1]}\ngroups: {g: {}}\nrules: {r: {when: messageAdded, if: {text: $l}, do: [{reply: a}]}}"
                ),
                ("b.yaml", "version: 1\n" + second),
            ]
            return RuleSet.load(files.map { BotSource(name: $0.0, bytes: Array($0.1.utf8)) }).findings.map(
                \.description)
        }
        #expect(
            load("rules: {s: {when: messageAdded, if: {text: [$l, b]}, group: g, do: [{reply: b}]}}") == [])
        #expect(
            load(
                "rules: {r: {when: messageAdded, if: {text: z1}, do: [{reply: b}]}}\nlists: {l: [y1]}\ngroups: {g: {}}"
            ) == [
                "b.yaml:2:9: error: rule \"r\" is declared twice - it is at a.yaml:4:9 already",
                "b.yaml:3:9: error: list \"l\" is declared twice - it is at a.yaml:2:9 already",
                "b.yaml:4:10: error: group \"g\" is declared twice - it is at a.yaml:3:10 already",
            ])
    }

    @Test func `an action that a service lacks is an error`() {
        var abilities = Scene.abilities
        abilities.actions = ["send"]
        abilities.events = [.messageAdded]
        let text = """
            version: 1
            rules:
              a: {when: messageAdded, in: lobby, if: {text: x1}, do: [{react: "👍"}]}
              b: {when: messageAdded, if: {text: x2}, do: [{reply: x}]}
              c: {when: [messageAdded, messageEdited], do: [{warn: x}]}
              d: {when: messageAdded, if: {text: x3}, do: [{relay: staff}, stop]}
            """
        let findings = RuleSet.load(
            [BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory(abilities)
        ).findings
        #expect(
            findings.map(\.description) == [
                "x.yaml:3:60: error: \"react\" cannot be done on twilio (twilio) - limit the rule with in:, or remove the action",
                "x.yaml:4:49: error: \"reply\" cannot be done on twilio (twilio) - limit the rule with in:, or remove the action",
                "x.yaml:5:28: error: no account tells messageEdited",
                "x.yaml:5:50: error: \"warn\" cannot be done on twilio (twilio) - limit the rule with in:, or remove the action",
            ])
    }

    @Test func `a word list has places too`() {
        let text =
            "version: 1\nlists: {l: {file: lists/l.txt}}\nrules: {r: {when: messageAdded, if: {text: $l}, do: [{reply: a}]}}"
        func load(_ list: String) -> [String] {
            RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]) { _ in Array(list.utf8) }
                .findings.map(\.description)
        }
        #expect(
            load("good\n  b*d # star\n") == [
                "lists/l.txt:2:3: error: \"*\" may only stand at the ends of a word, not as in \"b*d\""
            ])
        #expect(
            load("# nothing\n\n") == [
                "x.yaml:2:19: error: list \"l\" is empty: \"lists/l.txt\" has no words - fill it or remove the list"
            ])
        #expect(load("good\r\nfine\r\n") == [])
    }

    @Test(.timeLimit(.minutes(3))) func `random files end with rules or errors`() throws {
        var random = SeededRandom(seed: 11)
        let names = [
            "../../../bots/01-welcome.yaml", "../../../bots/02-faq.yaml", "../../../bots/03-moderation.yaml",
            "../../../bots/08-commands.yaml",
        ]
        let sources = try names.map { name in
            Array(try Data(contentsOf: fixtures.appending(path: name)))
        }
        let pieces = [
            "if:", "{", "}", "[", "]", "- ", ": ", "$x", "{{", "}}", "|", "not:", "any:", "text:", "user:",
            "regex:", "'", "command:", "args:", "choose:", "batch: 5s", "count:", "limits:", "vars:",
            "counters:",
            "optional rest", "integer 1 to 3", "{{ args.n }}", "{{ users | join }}", "| of(user)",
            "\"", "*", "&a", "*a", "#", "\n", "  ", "\t", "delete", "ban", "messageAdded", "über", "\u{200B}",
            "5m", "per",
        ]
        for round in 0..<1500 {
            var bytes = sources[round % sources.count]
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(contentsOf: Array(pieces.randomElement(using: &random)!.utf8), at: index)
                case 1:
                    bytes.removeSubrange(
                        index..<min(bytes.count, index + Int.random(in: 1...12, using: &random)))
                default: bytes[index] = UInt8.random(in: 0...255, using: &random)
                }
            }
            let loaded = RuleSet.load([BotSource(name: "x", bytes: bytes)], directory: Scene.directory()) {
                _ in
                Array("word\n".utf8)
            }
            #expect((loaded.rules == nil) == !loaded.errors.isEmpty)
            for finding in loaded.findings { _ = finding.report }
            _ = loaded.rules?.runExamples()
        }
    }
}
