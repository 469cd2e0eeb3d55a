import Foundation
import JSON
import Testing

@testable import steward

/// The commands for rules, as the shell sees them.
@Suite struct Tools {
    /// A folder that goes away with the test.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "steward-\(UUID().uuidString)")
            .path()

        init(_ files: [String: String]) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in files { try write(name, text) }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
        }

        func read(_ name: String) -> String {
            (try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)) ?? ""
        }
    }

    private let ugly = "version: 1\nrules:\n    a:\n        do: [stop]\n        when: messageAdded\n"
    private let neat = "version: 1\n\nrules:\n  a:\n    when: messageAdded\n    do: [stop]\n"

    @Test(arguments: Command.all.map(\.name))
    func `the manual has every command with its options`(_ name: String) throws {
        let page = Architecture.sources.deletingLastPathComponent().appending(path: "systemd/steward.1")
        let manual = try String(contentsOf: page, encoding: .utf8).replacing("\\-", with: "-")
        let sections = manual.components(separatedBy: ".TP\n")
        let section = sections.first { $0.hasPrefix(".B \(name) ") || $0.hasPrefix(".B \(name)\n") }
        let text = try #require(section, "the manual has no \(name)")
        let command = try #require(Command.all.first { $0.name == name })
        for option in command.options where option.name != "config" {
            #expect(text.contains("--\(option.name)"))
        }
    }

    @Test func `fmt changes the file in one step, keeps its rights, and then has nothing left to do`()
        async throws
    {
        let folder = try Folder(["a.yaml": ugly])
        let file = "\(folder.path)/a.yaml"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        #expect(await Steward.run(["fmt", "--check", file]) == .findings)
        #expect(folder.read("a.yaml") == ugly)
        #expect(await Steward.run(["fmt", file]) == .fine)
        #expect(folder.read("a.yaml") == neat)
        #expect(await Steward.run(["fmt", "--check", file]) == .fine)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.yaml"])
    }

    @Test func `a file of rules that would be left out for its name is an error`() throws {
        let folder = try Folder(["a.yaml": neat, "b.yml": neat, ".c.yml": neat])
        let error = #expect(throws: BotsError.self) { try Bots.files(in: folder.path) }
        #expect(error?.description.contains("b.yml: error: files of rules end in .yaml - rename it") == true)
        try FileManager.default.removeItem(atPath: "\(folder.path)/b.yml")
        #expect(try Bots.files(in: folder.path) == ["\(folder.path)/a.yaml"])
    }

    @Test func `fmt goes through a link to the file it names`() async throws {
        let folder = try Folder(["a.yaml": ugly])
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/link.yaml", withDestinationPath: "\(folder.path)/a.yaml")
        #expect(await Steward.run(["fmt", "\(folder.path)/link.yaml"]) == .fine)
        #expect(folder.read("a.yaml") == neat)
        #expect(
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder.path)/link.yaml")) != nil)
    }

    @Test func `fmt leaves a file with mistakes alone`() async throws {
        let broken = "version: 1\nrules:\n    a: {wen: x}\n"
        let folder = try Folder(["a.yaml": broken])
        #expect(await Steward.run(["fmt", "\(folder.path)/a.yaml"]) == .findings)
        #expect(folder.read("a.yaml") == broken)
        #expect(await Steward.run(["fmt", "\(folder.path)/none.yaml"]) == .findings)
    }

    @Test func `diff tells by its exit code whether two files mean the same`() async throws {
        let folder = try Folder([
            "a.yaml": ugly, "b.yaml": neat, "c.yaml": neat.replacing("[stop]", with: "[delete]"),
            "d.yaml": "rules: 5\n",
        ])
        func code(_ old: String, _ new: String) async -> ExitCode {
            await Steward.run(["diff", "\(folder.path)/\(old)", "\(folder.path)/\(new)"])
        }
        #expect(await code("a.yaml", "b.yaml") == .fine)
        #expect(await code("a.yaml", "c.yaml") == .findings)
        #expect(await code("a.yaml", "d.yaml") == .configuration)
        #expect(await code("a.yaml", "e.yaml") == .configuration)
        #expect(await Steward.run(["diff", folder.path]) == .usage)
    }

    @Test func `a finding is written for programs and for GitHub`() throws {
        let finding = Finding(file: "bots/a,b.yaml", problem: "100% wrong\nhere", hint: "try: this")
        #expect(
            Finding.text([finding], as: .github)
                == "::error file=bots/a%2Cb.yaml,line=1,endLine=1,col=1,endColumn=1,title=unreadable-file::100%25 wrong%0Ahere - try: this\n"
        )
        let json = try JSON(parsing: Finding.text([finding], as: .json))
        #expect(json[0]?["message"]?.string == "100% wrong\nhere")
        #expect(json[0]?["suggestion"]?.string == "try: this")
        #expect(
            json[0]?.object?.keys.sorted() == [
                "code", "column", "endColumn", "file", "line", "message", "severity", "suggestion",
            ])
        #expect(Finding.text([], as: .json) == "[]\n")
    }

    private func check(_ bot: String, config: String = "") async throws -> ExitCode {
        let folder = try Folder([
            "config.yaml":
                "accounts: {a: {service: twilio, identity: s, token: {file: t}, join: [general]}}\nbots: bots\n\(config)",
            "t": "x",
        ])
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/bots", withIntermediateDirectories: false)
        try folder.write("bots/bot.yaml", bot)
        return await Steward.run(["check", "--config", "\(folder.path)/config.yaml"])
    }

    @Test(arguments: [
        "version: 1\nrules: {a: {wen: messageAdded, do: [stop]}}",
        "version: 1\nrules: {a: {when: mesageAdded, do: [stop]}}",
        "version: 1\nrules: {a: {when: messageAdded, cooldown: 5y per user, do: [stop]}}",
        "version: 1\nrules: {a: {when: messageAdded, in: nowhere, do: [stop]}}",
        "version: 1\nrules: {a: {when: messageAdded, if: {length: many}, do: [stop]}}",
        "version: 1\nrules: {a: {when: messageAdded, do: [{reply: \"{{ usr.name }}\"}]}}",
        "version: 1\nrules: {a: {when: messageAdded, if: {text: a}, do: [{reply: b}], examples: {match: [c]}}}",
        "version: 1\nrules: {a: {when: messageAdded, if: {text: a}, do: [{reply: b}], tests: [{name: t, steps: [{say: a, expect: nothing}]}]}}",
        "version: 1\nrules: {a: {when: messageAdded, do: [stop]}, a: {when: messageAdded, do: [stop]}}",
        "version: 1\nrules: [",
    ])
    func `check ends with 1 for each kind of mistake in rules`(_ bot: String) async throws {
        #expect(try await check(bot) == .findings)
    }

    @Test(arguments: [
        "acounts: {}", "log: {level: loud}", "storage: [", "limits: {stale_after: 10y}", "log: {}\nlog: {}",
    ])
    func `check ends with 78 for a mistake in the configuration`(_ line: String) async throws {
        #expect(
            try await check("version: 1\nrules: {a: {when: messageAdded, do: [stop]}}", config: line)
                == .configuration)
    }

    @Test func `check ends with 0 when nothing is wrong`() async throws {
        #expect(
            try await check("version: 1\nrules: {a: {when: messageAdded, in: general, do: [stop]}}") == .fine)
    }

    @Test func `check takes a form that it knows and no other`() async {
        #expect(await Steward.run(["check", "--format", "xml"]) == .usage)
    }
}
