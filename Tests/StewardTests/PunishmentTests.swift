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

    @Test func `staff are told at once of a message that could not be deleted`() async throws {
        let bot = """
            version: 1
            defaults: {report_to: staff}
            rules:
              bad:
                when: [messageAdded, messageEdited]
                if: {text: bad}
                breaker: none
                do: [delete]
            """
        try await TestBed.run { bed, _ in
            // An account that is no admin anywhere.
            let lobby = try await bed.server.channel("lobby", as: "ana")
            let staff = try await bed.server.channel("staff", as: "ana")
            let config = bed.usualConfig.replacing("identity: steward", with: "identity: helper")
                .replacing("join: [general]", with: "join: [lobby, staff]")
            let steward = try bed.steward(config, bot: bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.join(lobby, as: "eve")
            for text in ["bad one", "bad two"] { try await bed.server.post(text, in: lobby, as: "eve") }
            await bed.server.wait(in: staff) { !$0.isEmpty }
            await steward.transcript.wait(for: "refused", times: 2)
            #expect(try await steward.stop() == .fine)
            let told = bed.texts(in: staff)
            #expect(told.count == 1)
            #expect(
                told.first?.hasPrefix(
                    "⚠️ A message of eve in lobby is still there, for it could not be deleted: ") == true)
            // The newest is tried first of those that are there.
            let ends = ["C1", "C2"].map { #"(rule "bad", case \#($0))."# }
            #expect(ends.contains { told.first?.hasSuffix($0) == true })
            #expect(bed.texts(in: lobby) == ["bad one", "bad two"])
        }
    }

    @Test func `a raid that staff end by hand leaves no channel locked`() async throws {
        let bot = """
            version: 1
            modes:
              calm: {default: true}
              raid: {clears_after: 30m}
            rules:
              confirmed:
                when: [messageAdded, messageEdited]
                if: {text: [coins]}
                breaker: none
                do: [{enter_mode: raid}, {lock: 10m}]
              spreads:
                when: [messageAdded, messageEdited]
                if: {text: [more], mode: raid}
                do: [{lock: 10m}]
              over:
                when: {modeLeft: raid}
                do: [unlock]
              switch:
                when: {command: {name: raid, args: {state: one of start stop}}}
                in: staff
                exempt: none
                do: [leave_mode, {reply: over}]
            """
        try await TestBed.run { bed, general in
            let lobby = try await bed.server.channel("lobby", as: "ana")
            let staff = try await bed.server.channel("staff", as: "ana")
            for channel in [general, lobby] { try await bed.server.join(channel, as: "eve") }
            try await bed.server.join(staff, as: "ana")
            let config = bed.usualConfig.replacing("join: [general]", with: "join: [general, lobby, staff]")
            let steward = try bed.steward(config, bot: bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.post("coins", in: general, as: "eve")
            try await bed.server.post("shut in general", in: general, as: "eve")
            await waitUntilGone("shut in general", bed, general)
            try await bed.server.post("more", in: lobby, as: "eve")
            try await bed.server.post("shut in lobby", in: lobby, as: "eve")
            await waitUntilGone("shut in lobby", bed, lobby)
            try await bed.server.post("!raid stop", in: staff, as: "ana")
            await bed.wait(for: "over", in: staff)
            for channel in [general, lobby] { try await bed.server.post("open", in: channel, as: "eve") }
            // Whatever is deleted after it is deleted in order.
            try await bed.server.post("coins", in: lobby, as: "eve")
            try await bed.server.post("shut again", in: lobby, as: "eve")
            await waitUntilGone("shut again", bed, lobby)
            #expect(try await steward.stop() == .fine)
            #expect(bed.texts(in: general) == ["coins", "open"])
            #expect(bed.texts(in: lobby) == ["more", "open", "coins"])
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
            listing.text(ledger, at: now + .seconds(180)) == """
                guards
                  1. hush  (bots/bot.yaml:3)
                       has never matched

                ! steward itself, which keeps mutes, bans, locks and slow mode
                       failed 3 minutes ago: not allowed: removeParticipant is missing
                """)
    }
}
