import Chat
import ChatTesting
import Testing

@testable import Engine

/// How a case is undone.
extension Cases {
    @Test func `a case is undone by command: strikes taken back, the text posted with its author's name`()
        async throws
    {
        let chat = FakeChat()
        let journal = try await SQLiteJournal.open(":memory:")
        try await Self.rig(journal: journal, chat: chat).runReady { _ in
            await offend(chat)
            chat.say("!undo C1", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 4 }
            chat.say("!undo C1", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 5 }
            chat.say("!undo C9", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 6 }
        }
        let said = chat.messages(in: "lobby").filter { $0.key != nil }.map(\.text)
        #expect(
            said == [
                "ana wrote: really bad",
                "C1: 1 strike of ana taken back, 1 message posted again",
                "C1: undone before, by mod",
                "C9: there is no such case (locks, slow mode and modes against nobody have none: a rule's "
                    + "unlock, slowmode: none and leave_mode end them)",
            ])
        let found = try #require(try await Self.cases(in: journal)["C1"])
        #expect(found.undone?.by == "mod")
        #expect(found.deeds.map(\.action) == ["delete", "send", "send"])
        #expect(found.deeds.allSatisfy { $0.state == .done })
        let key = MemorySubject.user(chat.realm.user("ana")).rowKey
        let rows = try await journal.rows(of: .memory, keys: [key])
        #expect(!rows.contains { $0.key.part == "steward" })
        #expect(try await Self.audit(in: journal).contains { $0.action == "undo" && $0.by == "mod" })
    }

    @Test func `each kind of action is undone by its opposite`() {
        let place = Place(account: "fake", channel: "lobby")
        let realm = Identities().realm("fake")
        func opposite(
            _ verb: ChatAction.Verb, state: Case.Deed.State = .done, tookOut: Bool? = true
        ) -> ([ChatAction.Verb], String) {
            var found = Case(
                name: "C1", at: noon, rule: "r", realm: "fake", place: place, user: "ana", userName: "Ana",
                event: "e", messages: 0)
            found.deeds = [
                Case.Deed(ChatAction(verb, in: place), key: ActionKey(text: "k"), state: state, at: noon)
            ]
            found.deeds[0].tookOut = tookOut
            let undoing = Undoing(
                found, evidence: nil, realm: realm,
                abilities: Abilities(events: [], actions: [], textLimit: .init(100, .bytes)), at: noon
            ) { _ in nil }
            return (undoing.decision.actions.map(\.verb), undoing.words)
        }
        let later = noon + .seconds(60)
        #expect(
            opposite(.mute(user: "ana", until: later, reason: nil)) == ([.unmute(user: "ana")], "Ana unmuted")
        )
        #expect(
            opposite(.ban(user: "ana", until: nil, reason: nil))
                == ([.unban(user: "ana"), .addMember(user: "ana")], "Ana unbanned"))
        #expect(opposite(.removeMember(user: "ana")) == ([.addMember(user: "ana")], "Ana brought back"))
        #expect(opposite(.lock(until: nil, reason: nil)) == ([.unlock], "the channel unlocked"))
        #expect(opposite(.slowMode(.seconds(5))) == ([.slowMode(nil)], "slow mode ended"))
        // What is over, and what was never done, is left alone.
        let nothing = "nothing was left to restore"
        let kick = ChatAction.Verb.removeMember(user: "ana")
        #expect(opposite(kick, tookOut: false) == ([], "Ana was not in the channel"))
        #expect(
            opposite(kick, tookOut: nil)
                == (
                    [],
                    nothing + "; not restored: Ana in the channel, as nobody knows whether they were in it"
                ))
        #expect(
            opposite(.ban(user: "ana", until: nil, reason: nil), tookOut: false)
                == ([.unban(user: "ana")], "Ana unbanned"))
        #expect(opposite(.mute(user: "ana", until: noon, reason: nil)) == ([], nothing))
        #expect(opposite(.ban(user: "ana", until: nil, reason: nil), state: .failed) == ([], nothing))
        #expect(
            opposite(.deleteMessage(MessageReference(id: "1")))
                == ([], "nothing was left to restore; not restored: 1 text not kept, or not any more"))
    }

    @Test func `texts of a burst are posted again in as few messages as the service's limit allows`() {
        let place = Place(account: "fake", channel: "lobby")
        var found = Case(
            name: "C1", at: noon, rule: "r", realm: "fake", place: place, user: "ana", userName: "Ana",
            event: "e", messages: 3)
        var evidence = Evidence()
        for (id, text) in [("1", "first"), ("2", "second"), ("3", String(repeating: "x", count: 40))] {
            found.deeds.append(
                Case.Deed(
                    ChatAction(.deleteMessage(MessageReference(id: id)), in: place),
                    key: ActionKey(text: id), state: .done, at: noon))
            evidence.messages.append(Evidence.Line(id: id, channel: "lobby", name: "Ana", text: text))
        }
        let undoing = Undoing(
            found, evidence: evidence, realm: Identities().realm("fake"),
            abilities: Abilities(events: [], actions: [], textLimit: .init(40, .bytes)), at: noon
        ) { _ in nil }
        let texts = undoing.decision.actions.compactMap { action -> String? in
            if case .send(let outgoing) = action.verb { outgoing.text } else { nil }
        }
        #expect(texts.prefix(1) == ["Ana wrote:\nfirst\nsecond"])
        #expect(texts.count == 2 && texts[1].hasPrefix("Ana wrote: xxxx") && texts[1].utf8.count <= 40)
        #expect(undoing.words == "3 messages posted again")
    }
}
