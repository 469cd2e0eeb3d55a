import Chat
import Foundation
import Testing

@testable import Rules

/// The bots that come with steward.
@Suite struct ShippedBotTests {
    private func load(beside other: String? = nil) throws -> RuleSet {
        let folder = fixtures.appending(path: "../../../bots")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter {
            $0.hasSuffix(".yaml")
        }
        let sources = try names.sorted().map { name in
            BotSource(name: "bots/\(name)", bytes: Array(try Data(contentsOf: folder.appending(path: name))))
        }
        let others = other.map { [BotSource(name: "other.yaml", bytes: Array($0.utf8))] } ?? []
        let loaded = RuleSet.load(sources + others, directory: Scene.directory()) { path in
            (try? Data(contentsOf: folder.appending(path: path))).map { Array($0) }
        }
        #expect((other == nil ? loaded.findings : loaded.errors).map(\.description) == [])
        return try #require(loaded.rules)
    }

    @Test func `they are without a finding, and their examples hold`() throws {
        let rules = try load()
        #expect(rules.runExamples().map(\.description) == [])
        #expect(rules.exampleCount() >= 20)
        #expect(rules.rules.contains { $0.source.isOncePerWindow })
        #expect(rules.rules.allSatisfy { $0.source.about != nil })
    }

    @Test func `six throw-away names do not switch off the guard of zero tolerance`() throws {
        let slurs = try #require(try load().rules.first { $0.id == "slurs" })
        #expect(!slurs.mayBreak)
    }

    @Test(arguments: [
        "hello", "you nincompoop, are you open?", "!ban ben for 3d", "thanks @ben", "refund",
        "PLEASE LOOK AT https://bit.ly/x AND AT https://bit.ly/y NOW", "darn @a @b @c @d @e @f @g",
    ])
    func `what becomes of a message is told on a screen of 80 columns and 24 lines`(_ said: String) throws {
        let rules = try load()
        for role in ["moderator", nil] {
            let told = try #require(
                rules.explain(
                    say: said, as: "ana", in: "support", roles: [role].compactMap(\.self),
                    now: Timestamp(milliseconds: 1_780_000_000_000)))
            let lines = told.description(in: 22).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 22)
            #expect(lines.allSatisfy { Columns.width($0) <= 80 })
            for entry in told.entries where entry.matches {
                #expect(lines.contains { $0.contains("✓ \(entry.number). \(entry.rule) ") })
            }
        }
    }

    @Test func `they hold beside a second ladder`() throws {
        let second = "version: 1\nladders: {other: {steps: {3: [{warn: x}]}}}\n"
        #expect(try load(beside: second).runExamples().map(\.description) == [])
    }

    @Test func `undo says nothing of its own beside what steward says`() throws {
        #expect(try load().rules.first { $0.id == "undo" }?.source.steps.map(\.verb) == [.undo])
    }

    @Test(arguments: [
        ("how do I get a refund?", "support", ["Refunds take 3-5 working days"]),
        (
            "oh nincompoop", "lobby",
            [
                "delete the message", "strike +3 on conduct", "mute ana in general for 1 day",
                "You are not heard", "case against ana",
            ]
        ),
        ("the site is down", "support", ["send to staff: ana in support:"]),
        ("when do you open?", "lobby", ["We are closed."]),
        ("see https://bit.ly/x", "support", ["delete the message", "full address"]),
        ("STOP SHOUTING AT ALL OF US", "lobby", ["No need to shout."]),
        ("thanks @ben!", "lobby", ["nothing would be done"]),
        ("!karma ben", "lobby", ["ben has 0 points."]),
        ("!help", "support", ["!karma [who] - How many points"]),
        ("thanks @ana", "lobby", ["match.who is ana", "nothing would be done"]),
        ("what the heck", "lobby", ["on dry run"]),
        ("hello", "lobby", ["nothing would be done"]), ("refund", "staff", ["nothing would be done"]),
    ])
    func `they do what the story tells`(_ text: String, _ channel: String, _ expected: [String]) throws {
        let now = Timestamp(milliseconds: 0)
        let said = try #require(try load().explain(say: text, as: "ana", in: channel, now: now)).description
        for words in expected { #expect(said.contains(words)) }
    }
}
