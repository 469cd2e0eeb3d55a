import Chat
import Foundation
import Plugins
import Rehearsal
import Rules
import Testing

@testable import steward

/// What the pages show is what the program takes.
@Suite struct Documentation {
    struct Snippet: CustomTestStringConvertible {
        var page: String
        var text: String

        var testDescription: String { "\(page): \(text.prefix(40))" }
    }

    static let pages: [URL] = {
        let docc = Architecture.sources.appending(path: "Chat/Documentation.docc")
        let files =
            FileManager.default.enumerator(at: docc, includingPropertiesForKeys: nil)?.allObjects as? [URL]
        let readme = Architecture.sources.deletingLastPathComponent().appending(path: "README.md")
        return (files ?? []).filter { $0.pathExtension == "md" } + [readme]
    }()

    /// The YAML blocks of all pages that begin like one of these.
    static func snippets(beginning starts: String...) -> [Snippet] {
        pages.flatMap { page in
            let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
            return text.components(separatedBy: "```yaml\n").dropFirst()
                .compactMap { $0.components(separatedBy: "```").first }
                .filter { block in starts.contains { block.hasPrefix($0) } }
                .map { Snippet(page: page.lastPathComponent, text: $0) }
        }
    }

    @Test func `there are rules and configurations among the pages`() {
        #expect(Self.snippets(beginning: "version:").count >= 5)
        #expect(Self.snippets(beginning: "accounts:", "server:").count >= 4)
    }

    @Test(arguments: snippets(beginning: "version:"))
    func `each rule that a page shows is read, and its examples hold`(_ snippet: Snippet) throws {
        let loaded = RuleSet.load([BotSource(name: snippet.page, bytes: Array(snippet.text.utf8))])
        #expect(loaded.errors.map(\.description) == [])
        let rules = try #require(loaded.rules)
        #expect(rules.runExamples().map(\.description) == [])
        #expect(BotTests.run(rules).compactMap { $0.failure?.report } == [])
    }

    @Test func `each condition of a plugin that a page shows is offered`() throws {
        let texts = try Self.pages.map { try String(contentsOf: $0, encoding: .utf8) }
        let shown = Set(
            texts.flatMap {
                $0.matches(of: /plugin: \{[a-z-]+: \{[a-z_]+: \w+\}\}/).map { String($0.output) }
            })
        #expect(!shown.isEmpty)
        let settings = try JSONDecoder().decode(LastSeen.Settings.self, from: Data("{}".utf8))
        for condition in shown {
            let text = "version: 1\nrules: {it: {when: memberJoined, if: {\(condition)}, do: [{send: hi}]}}"
            let loaded = RuleSet.load(
                [BotSource(name: "x.yaml", bytes: Array(text.utf8))],
                plugins: [try LastSeen(settings: settings)])
            #expect(loaded.errors.map(\.description) == [])
        }
    }

    @Test(arguments: snippets(beginning: "accounts:", "server:"))
    func `each configuration that a page shows is read`(_ snippet: Snippet) throws {
        // What the pages name as secrets.
        let names = [
            "TWILIO_SECRET", "TOKEN_KEY", "TOKEN_HEADER", "SENDBIRD_TOKEN", "SENDBIRD_API_TOKEN",
            "MATRIX_PASSWORD", "MATRIX_TOKEN", "MATRIX_REFRESH_TOKEN", "MATRIX_AS_TOKEN",
        ]
        let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "s") })
        let mistakes: String
        do {
            _ = try ConfigReader.read(
                Array(snippet.text.utf8), file: snippet.page, environment: environment)
            mistakes = ""
        } catch {
            mistakes = "\(error)"
        }
        #expect(mistakes == "")
    }

    @Test(arguments: ["config.yaml", "systemd/config.yaml"])
    func `the configuration that comes with steward is read`(_ name: String) throws {
        let file = Architecture.sources.deletingLastPathComponent().appending(path: name).path()
        var config = try ConfigReader.read(file: file, environment: [:])
        config.bots = Architecture.sources.deletingLastPathComponent().appending(path: "bots").path()
        #expect(config.accounts.map(\.name) == ["twilio"])
        #expect(try Bots.load(config).warnings.map(\.description) == [])
    }

    @Test(arguments: ["matrix", "a", "zoo"])
    func `the bots that come with steward pass their tests whatever account stands beside the first`(
        _ name: String
    ) async throws {
        let root = Architecture.sources.deletingLastPathComponent()
        let file = root.appending(path: "config.yaml").path()
        let shipped = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
        let account = """
                join: [general, support, staff]                # created when missing

              \(name):
                service: matrix
                homeserver: https://matrix.example.org
                login: {user: steward, password: "${env:PASSWORD}"}
                join: ["#lobby:example.org"]
            """
        let text = shipped.replacing(
            "    join: [general, support, staff]                # created when missing", with: account)
        #expect(text != shipped)
        var config = try ConfigReader.read(
            Array(text.utf8), file: "config.yaml", environment: ["PASSWORD": "secret"])
        config.bots = root.appending(path: "bots").path()
        let rules = try Bots.load(config)
        #expect(rules.warnings.map(\.description) == [])
    }
}
