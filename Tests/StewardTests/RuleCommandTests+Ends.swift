import Chat
import ChatServer
import Foundation
import FoundationXML
import JSON
import Testing

@testable import steward

/// How the commands end.
extension RuleCommands {
    @Test func `the commands end as they promise`() async throws {
        let shell = try Shell()
        func code(_ words: String...) async throws -> Int32? {
            try await Self.run(
                [words[0], "--config", shell.folder.path + "/config.yaml"] + words.dropFirst()
            )
            .code
        }
        for command in ["check", "test", "rules"] { #expect(try await code(command) == 0) }
        #expect(try await code("explain", "--say", "hello") == 0)
        #expect(try await code("explain", "--say", "hello", "--in", "nowhere") == 2)
        #expect(try await code("explain", "--say", "hello", "--rule", "nothing") == 2)
        #expect(try await code("explain", "--say", "hello", "--role", "king") == 2)
        #expect(try await code("explain", "--say", "hello", "--role", "moderator,admin") == 0)
        #expect(try await code("explain") == 2)
        #expect(try await code("test", "--rule", "nothing") == 2)
        #expect(try await code("test", "--junit", "/nowhere/x.xml") == 1)
        #expect(try await code("replay", "--since", "long") == 2)
        #expect(try await code("replay", "--events", shell.folder.path + "/none") == 1)
        #expect(try await code("rules", "--unknown") == 2)
        try shell.folder.write("events", "{\"user\":\"ana\",\"text\":\"hello\",\"channel\":\"general\"}\n")
        #expect(try await code("replay", "--events", shell.folder.path + "/events") == 0)
        #expect(
            try await code(
                "replay", "--events", shell.folder.path + "/events", "--rules", shell.folder.path + "/none")
                == 1)
        try shell.folder.write("bots/bot.yaml", "rules: 5\n")
        for command in ["check", "test", "rules", "replay"] { #expect(try await code(command) == 1) }
        #expect(try await code("explain", "--say", "hello") == 1)
        #expect(try await code("run") == 78)
        try FileManager.default.removeItem(atPath: shell.folder.path + "/bots")
        for command in ["check", "test", "rules", "fmt"] { #expect(try await code(command) == 1) }
        try shell.folder.write("config.yaml", "accounts: {}\n")
        for command in ["check", "test", "rules", "replay", "run", "fmt"] {
            #expect(try await code(command) == 78)
        }
    }

    @Test func `a server that anybody could enter says which secret is missing, and need not be tried again`()
        async throws
    {
        let end = try await Self.run(["server", "--listen", "0.0.0.0:0"])
        #expect(end.code == 78)
        #expect(end.errors.contains("set server.secret or STEWARD_SERVER_SECRET, or listen on 127.0.0.1"))
    }

    @Test func `help fits eighty columns`() {
        for text in Command.all.map(Help.of) + [Help.overview()] {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test func `explain tells programs of each rule on a line, and people what it could not look at`()
        async throws
    {
        let shell = try Shell()
        let lines = try await shell.run("explain", "--say", "oh hello", "--as", "ana", "--json").output
            .split(separator: "\n")
        #expect(lines.count == 1)
        let told = try JSON(parsing: Array(try #require(lines.first).utf8))
        #expect(told["rule"]?.string == "greeting")
        #expect((told["matches"]?.bool, told["asks_memory"]?.bool) == (true, true))
        #expect(told["reason"]?.string == "matches: \"hello\"")
        #expect(told["actions"]?[0]?.string == "reply in general: Hello, ana.")
        #expect(told["place"]?.string?.hasSuffix("bots/bot.yaml:3") == true)
        let text = try await shell.run("explain", "--say", "hello", "--as", "ana").output
        #expect(
            text.hasSuffix(
                "\nas if nothing was remembered (ana is new, nothing rests, counts are 0): 1\n"))
        let no = try await shell.run("explain", "--say", "bye").output
        #expect(!no.contains("remembered"))
    }
}
