import Chat
import Testing

@testable import Rules

/// Text that is edited in later, and messages that change without a new word.
@Suite struct EditedMessages {
    private func edit(_ scene: Scene, _ text: String, by member: Member, id: String = "IM1") -> [String] {
        scene.take(
            scene.event(.messageEdited(scene.message(text, by: member, id: id)), in: scene.channel("general"))
        )
    }

    private let guards = """
        version: 1
        rules:
          words: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
          hosts: {when: [messageAdded, messageEdited], if: {links: {hosts_in: [evil.net]}}, do: [delete]}
          new: {when: [messageAdded, messageEdited], if: {text: darn, user: {messages: under 5}}, do: [delete]}
          asked: {when: [messageAdded, messageEdited], exempt: {bots: false}, if: {text: dash}, do: [delete]}
          faq: {when: messageAdded, if: {text: refund}, do: [{reply: hi}]}
          call: {when: {command: karma}, do: [{reply: hi}]}
        """

    @Test func `what is edited in is removed as if it had been said`() throws {
        let scene = try Scene(guards)
        let ana = scene.member("ana")
        for text in ["heck", "he\u{200B}ck", "see evil.net", "darn"] {
            #expect(edit(scene, text, by: ana) == ["delete general"])
        }
    }

    @Test func `an edit asks for the same user as a new message`() throws {
        let scene = try Scene(guards)
        scene.facts["ana"] = MemberFacts(messages: 5)
        #expect(scene.say("darn") == [])
        #expect(edit(scene, "darn", by: scene.member("ana")) == [])
        #expect(edit(scene, "heck", by: scene.member("mo", roles: ["channel admin"])) == [])
        let program = scene.member("program", isBot: true)
        #expect(edit(scene, "heck", by: program) == [])
        #expect(edit(scene, "dash", by: program) == ["delete general"])
        #expect(edit(scene, "heck", by: scene.member("steward")) == [])
    }

    @Test func `an edited question is not answered, and calls no command`() throws {
        let scene = try Scene(guards)
        let ana = scene.member("ana")
        #expect(
            scene.take(
                scene.event(
                    .messageAdded(scene.message("refund", by: ana, id: "IM1")), in: scene.channel("general")))
                == ["reply general: hi"])
        for text in ["refund?", "refund!", "!karma"] { #expect(edit(scene, text, by: ana) == []) }
    }

    /// Services tell a reaction or a receipt as a change of the message, too.
    @Test func `a message is warned about once by a rule, however often it changes`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              softly: {when: [messageAdded, messageEdited], if: {text: heck}, do: [{warn: "softly"}, {log: x}]}
              other: {when: [messageAdded, messageEdited], if: {text: darn}, do: [{warn: "other"}]}
            """)
        let ana = scene.member("ana")
        #expect(edit(scene, "heck", by: ana) == ["reply general: ana: softly"])
        for _ in 0..<3 { #expect(edit(scene, "heck", by: ana) == []) }
        #expect(edit(scene, "oh heck", by: ana) == [])
        #expect(edit(scene, "oh darn", by: ana) == ["reply general: ana: other"])
        #expect(edit(scene, "heck", by: ana, id: "IM2") == ["reply general: ana: softly"])
        #expect(scene.say("heck") == ["reply general: ana: softly"])
    }

    @Test func `what is removed on an edit is removed each time`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete, {warn: "no"}]}
            """)
        let ana = scene.member("ana")
        #expect(edit(scene, "heck", by: ana) == ["delete general", "send general: ana: no"])
        #expect(edit(scene, "heck", by: ana) == ["delete general"])
    }
}
