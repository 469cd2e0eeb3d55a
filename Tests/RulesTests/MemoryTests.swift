import Chat
import Testing

@testable import Rules

@Suite struct MemoryTests {
    @Test(arguments: [("1m per user", "ben", "support"), ("1m per channel", "ana", "support")])
    func `a cooldown counts for its user or channel alone`(
        _ cooldown: String, _ other: String, _ place: String
    ) throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    cooldown: \(cooldown)\n    do: [{reply: \"hi\"}]\n")
        #expect(scene.say("x").count == 1)
        scene.now = scene.now + .seconds(59)
        #expect(scene.say("x").isEmpty)
        #expect(scene.say("x", by: other, in: place).count == 1)
        scene.now = scene.now + .seconds(1)
        #expect(scene.say("x").count == 1)
    }

    @Test func `per rule is for everybody, everywhere`() throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    cooldown: 15m per rule\n    do: [{reply: \"hi\"}]\n")
        #expect(scene.say("x").count == 1)
        #expect(scene.say("x", by: "ben", in: "support").isEmpty)
    }

    @Test func `three in a day are three in any day`() throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    cooldown: 3 in 1d per user\n    do: [{reply: \"hi\"}]\n")
        var answers = 0
        for _ in 0..<24 {
            answers += scene.say("x").count
            scene.now = scene.now + .seconds(3600)
        }
        #expect(answers == 3)
        #expect(scene.say("x").count == 1)
        #expect(scene.say("x").isEmpty)
    }

    @Test func `a rule that rests lets the next one answer`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              long: {when: messageAdded, cooldown: 1h per user, do: [{reply: "long"}]}
              short: {when: messageAdded, do: [{reply: "short"}]}
            """)
        #expect(scene.say("x") == ["reply general: long"])
        #expect(scene.say("x") == ["reply general: short"])
    }

    @Test func `once per user is for ever`() throws {
        let scene = try Scene(
            rule:
                "    when: memberJoined\n    in: lobby\n    once: per user\n    do: [{send: \"Welcome, {{ user.name }}!\"}]\n"
        )
        func join(_ name: String) -> [String] {
            scene.take(scene.event(.memberJoined(scene.member(name)), in: scene.channel("general")))
        }
        #expect(join("ana") == ["send general: Welcome, ana!"])
        scene.now = scene.now + .seconds(400 * 86_400)
        #expect(join("ana") == [])
        #expect(join("ben") == ["send general: Welcome, ben!"])
        #expect(
            scene.take(scene.event(.memberUpdated(scene.member("cy")), in: scene.channel("general"))) == [])
    }

    @Test func `was carries the memory of the former name over`() throws {
        let before = try Scene(
            "version: 1\nrules: {old: {when: messageAdded, once: per user, do: [{reply: \"hi\"}]}}")
        #expect(before.say("x").count == 1)
        let after = try Scene(
            "version: 1\nrules: {new: {when: messageAdded, once: per user, was: old, do: [{reply: \"hi\"}]}}")
        #expect(after.say("x").count == 1)
        after.memory = Remembered()
        let key = MemoryKey(owner: "old", name: "once", subject: .user(after.member("ana").user))
        after.memory.values[key] = .times([after.now])
        #expect(after.say("x").isEmpty)
    }

    @Test func `a warning goes away after a minute, and what says so after its time`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              guard: {when: [messageAdded, messageEdited], if: {text: heck}, do: [{warn: "Softly."}]}
              answer: {when: messageAdded, if: {text: hello}, do: [{send: {text: "hi", delete_after: 6h}}]}
            """)
        for (text, delay, path) in [
            ("heck", Duration.seconds(60), "do[0]"), ("hello", .seconds(6 * 3600), "do[0]"),
        ] {
            let event = scene.event(
                .messageAdded(scene.message(text, by: scene.member("ana"))), in: scene.channel("general"))
            let decision = try #require(scene.decide(event).first { !$0.actions.isEmpty })
            let then = try #require(decision.actions.first?.then)
            let owner = then.owner
            let handler = try #require(scene.rules.handlers.first { $0.resumes(owner: owner) })
            let sent = Receipt(message: MessageReference(id: "IM99", index: 7), channel: "CH-general")
            let done = scene.event(.resumed(then, .done(sent)), in: nil)
            let later = try handler.decide(done, in: scene.situation(for: done)).later
            #expect(later.map(\.due) == [scene.now + delay])
            let due = scene.event(.resumed(try #require(later.first), .due), in: nil)
            let last = try handler.decide(due, in: scene.situation(for: due))
            #expect(
                last.actions == [
                    ChatAction(
                        .deleteMessage(MessageReference(id: "IM99", index: 7)),
                        in: Place(account: "twilio", channel: "CH-general"), by: owner,
                        path: "\(path).delete_after")
                ])
            let failed = scene.event(.resumed(then, .failed("no")), in: nil)
            #expect(try handler.decide(failed, in: scene.situation(for: failed)).isEmpty)
        }
    }
}
