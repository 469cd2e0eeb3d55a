import Chat
import ChatServer
import Testing

@testable import Engine
@testable import Rules
@testable import steward

@Suite(.timeLimit(.minutes(2))) struct PunishmentsOnTheBuiltInServer {
    private static let bot = """
        version: 1
        rules:
          hush:
            when: messageAdded
            if:
              text: [hush]
            do:
              - mute: {for: 12s, reason: loud}
          greeting:
            when: messageAdded
            if:
              text: [hello]
            do:
              - reply: "Hello, {{ user.name }}."
        """

    private func waitUntilGone(_ text: String, _ bed: TestBed, _ channel: SID) async {
        await bed.server.wait(in: channel) { messages in
            !messages.contains { $0.content.body == text }
        }
    }

    /// The same in seconds as ten minutes are on a clock that is moved by hand.
    @Test func `muted is muted through leaving, rejoining and a restart, until the second it ends`()
        async throws
    {
        try await TestBed.run { bed, general in
            try await bed.server.join(general, as: "eve")
            let first = try bed.steward(bot: Self.bot)
            await first.transcript.wait(for: "ready: ")
            try await bed.server.post("hush", in: general, as: "eve")
            try await bed.server.post("one", in: general, as: "eve")
            await waitUntilGone("one", bed, general)
            try await bed.server.leave(general, as: "eve")
            #expect(try await first.stop() == .fine)
            try await bed.server.join(general, as: "eve")
            try await bed.server.post("two", in: general, as: "eve")
            let second = try bed.steward(bot: Self.bot)
            await waitUntilGone("two", bed, general)
            #expect(!second.transcript.lines.contains { $0.contains("is over") })
            await second.transcript.wait(for: "hush: the mute of eve in twilio:")
            try await bed.server.post("hello four", in: general, as: "eve")
            await bed.wait(for: "Hello, eve.", in: general)
            #expect(try await second.stop() == .fine)
            #expect(bed.texts(in: general) == ["hush", "hello four", "Hello, eve."])
        }
    }

    @Test func `whoever is banned is removed again at each join, and a kick is none of the bans`()
        async throws
    {
        let bot = """
            version: 1
            rules:
              out:
                when: messageAdded
                if:
                  text: [out]
                do:
                  - ban: {for: 1h}
              welcome:
                when: memberJoined
                do:
                  - send: "Welcome, {{ user.name }}."
            """
        try await TestBed.run { bed, general in
            try await bed.server.join(general, as: "eve")
            let steward = try bed.steward(bot: bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.post("out", in: general, as: "eve")
            for _ in 0..<3 {
                while true {
                    do {
                        try await bed.server.join(general, as: "eve")
                        break
                    } catch {
                        // Still a member: the removal is on its way.
                        try await Task.sleep(for: .milliseconds(10))
                    }
                }
            }
            try await bed.server.join(general, as: "ben")
            await bed.wait(for: "Welcome, ben.", in: general)
            #expect(try await steward.stop() == .fine)
            #expect(bed.texts(in: general) == ["out", "Welcome, ben."])
        }
    }

    @Test func `what steward itself could not do is listed below the rules`() {
        let now = Timestamp(milliseconds: 1_781_524_800_000)
        var ledger = RuleLedger()
        ledger.fail("steward", "not allowed: removeParticipant is missing", at: now)
        let rule = RuleOutline(
            name: "hush", stage: .guard, place: "bots/bot.yaml:3", isBuiltIn: false, run: "live", about: nil)
        let listing = RulesCommand.Listing(rules: [rule], store: nil)
        #expect(
            listing.text(ledger.records, at: now + .seconds(180)) == """
                guards
                ! 1. hush  (bots/bot.yaml:3)
                       has never matched

                ! steward itself, which keeps mutes, bans, locks and slow mode
                       failed 3 minutes ago: not allowed: removeParticipant is missing
                """)
    }
}
