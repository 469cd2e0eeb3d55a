import Chat
import ChatTesting
import Testing

@testable import Engine

/// What the store knows of the past: how rules have done, and the events themselves.
@Suite(.timeLimit(.minutes(1))) struct LookingBack {
    let noon = Timestamp(milliseconds: 1_781_524_800_000)

    @Test func `a rule's record survives a restart, and can be read while steward works`() async throws {
        let file = TemporaryFile()
        let chat = FakeChat()
        let rule = Handler("rules") { event, _ in
            guard let message = event.message else { return .nothing }
            var decision = Decision.reply("re", to: event)
            decision.matched = [message.text == "dry" ? "greet (dry)" : "greet"]
            decision.actions[0].by = "greet"
            return decision
        }
        for run in 1...2 {
            let journal = try await SQLiteJournal.open(file.path)
            let rig = Rig([rule], journal: journal, chat: chat)
            chat.script(run == 1 ? [.none, .fails(.rejected("no such room"))] : [])
            try await rig.runReady { _ in
                chat.say("one", as: "ana", in: "lobby")
                await chat.wait { $0.performed.count == 2 * run - 1 }
                chat.say("dry", as: "ben", in: "lobby")
                if run == 1 { chat.say("two", as: "cho", in: "lobby") }
                await chat.wait { $0.performed.count == 2 * run }
            }
            let reader = try await SQLiteJournal.openForReading(file.path)
            var ledger = RuleLedger()
            ledger.load(try await reader.rows(of: .rule))
            let record = try #require(ledger.records["greet"])
            #expect(ledger.records.keys.sorted() == ["greet", "steward"])
            #expect(ledger.days(until: .now) == 0)
            #expect(ledger.days(until: .now + .seconds(30 * 86_400)) == 30)
            #expect(record.matches(until: .now) == (run == 1 ? 3 : 5))
            #expect(record.lastFailure?.why == "no such room")
            await reader.close()
            await journal.close()
        }
    }

    @Test func `matches are counted by day, for thirty days`() {
        var ledger = RuleLedger()
        for day in 0..<40 { ledger.match("it", 2, at: noon + .seconds(day * 86_400)) }
        let now = noon + .seconds(39 * 86_400)
        #expect(ledger.records["it"]?.days.count == 30)
        #expect(ledger.records["it"]?.matches(until: now) == 60)
        #expect(ledger.records["it"]?.matchesADay(until: now) == 2)
        #expect(ledger.records["it"]?.matches(until: now + .seconds(29 * 86_400)) == 2)
        #expect(ledger.records["it"]?.matches(until: now + .seconds(30 * 86_400)) == 0)
        var other = RuleLedger()
        other.load(
            ledger.takeChanges().compactMap { row in row.body.map { StoredRow(key: row.key, body: $0) } })
        #expect(other.records == ledger.records)
        #expect(ledger.takeChanges() == [])
    }

    @Test func `events are kept as long as the configuration says, and read as they were`() async throws {
        let file = TemporaryFile()
        let clock = ManualClock(noon)
        let chat = FakeChat(now: { clock.now })
        let journal = try await SQLiteJournal.open(file.path)
        var rig = Rig([Handler.echo], journal: journal, chat: chat, time: clock)
        rig.settings.keepEvents = .seconds(86_400)
        try await rig.runReady { _ in
            chat.say("old", as: "ana", in: "lobby")
            await chat.wait { $0.performed.count == 1 }
            clock.advance(by: .seconds(2 * 86_400))
            let message = chat.say("new", as: "ana", in: "lobby")
            await chat.wait { $0.performed.count == 2 }
            chat.edit(message, to: "newer", in: "lobby")
            chat.join("ben", "lobby")
            chat.say("end", as: "cho", in: "lobby")
            await chat.wait { $0.performed.count == 3 }
        }
        let identities = Identities()
        let bodies = try await journal.keptEvents(since: noon)
        let events = bodies.flatMap { EventCoding.events(in: $0, realms: identities) }
        #expect(events.map(\.name) == [.messageAdded, .messageEdited, .memberJoined, .messageAdded])
        #expect(events.map { $0.message?.text } == ["new", "newer", nil, "end"])
        #expect(events.first?.channel?.title == "lobby")
        #expect(events.first?.sentAt == noon + .seconds(2 * 86_400))
        #expect(events.map { $0.member?.user.text } == ["ana", "ana", "ben", "cho"])
        await journal.close()
    }

    @Test func `an event is the same after it was kept, whatever it holds`() throws {
        let identities = Identities()
        let realm = identities.realm("IS1")
        let member = Member(user: realm.user("ana"), name: "Ana\nLund", roles: ["channel admin"], isBot: true)
        let message = Message(
            id: "IM1", index: 7, author: member, text: "鈴木 🎉\u{0}",
            attachments: [.init(id: "ME1", name: "a.png", contentType: "image/png", size: 5)],
            replyTo: "IM0")
        let channel = Channel(
            id: realm.channel("CH1"), uniqueName: "general", title: "General", memberCount: 3, isDirect: true)
        let kinds: [ChatEvent.Kind] = [
            .messageAdded(message), .messageEdited(message), .messageDeleted(message), .memberJoined(member),
            .memberLeft(member), .memberUpdated(member), .channelAdded, .typingStarted(member),
        ]
        let events = kinds.map {
            ChatEvent(id: "e", account: "twilio", realm: realm, channel: channel, sentAt: noon, kind: $0)
        }
        let body = EventCoding.body(of: events)
        let read = EventCoding.events(in: body, realms: identities)
        #expect(read.map { "\($0.kind)" } == events.map { "\($0.kind)" })
        #expect(read.map { "\($0.channel as Any)" } == events.map { "\($0.channel as Any)" })
        // Broken bytes end the list and nothing else.
        for length in 0..<body.count {
            #expect(
                EventCoding.events(in: Array(body.prefix(length)), realms: identities).count < events.count)
        }
    }
}
