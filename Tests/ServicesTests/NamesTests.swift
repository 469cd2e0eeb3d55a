import Chat
import JSON
import Testing

@testable import Services

/// What people are called, and who of them is a program.
@Suite(.timeLimit(.minutes(1))) struct PeoplesNames {
    @Test(arguments: [
        (["helper"], "helper", true), (["helper"], "helper2", false), (["*-bot"], "faq-bot", true),
        (["*-bot"], "bot", false), (["bot-*-eu"], "bot-1-eu", true), (["bot-*-eu"], "bot-eu", false),
        (["*"], "ana", true), ([], "ana", false), (["a*a"], "a", false),
    ])
    func `a program is known by its identity, with stars for any text`(
        _ names: [String], _ identity: String, _ isBot: Bool
    ) {
        #expect(BotNames(names).contains(identity) == isBot)
    }

    @Test func `a program is known by its role`() {
        let role = "RL0123456789abcdef0123456789abcdef"
        #expect(BotNames([role]).contains("ana", role: role))
        #expect(!BotNames([role]).contains("ana", role: "RL00000000000000000000000000000003"))
    }

    @Test func `a direct message that cannot be made fails, or is skipped where the rule says so`()
        async throws
    {
        try await withAccount(prepare: { peer in
            _ = peer.addChannel(1, name: "general", members: ["ana"])
            peer.judge { method, path in
                method == "POST" && path.hasSuffix("/Conversations")
                    ? .answer(status: 403, ["code": 54007, "message": "not allowed"]) : .normal
            }
        }) { _, service, inbox in
            try await inbox.waitUntilUp()
            let place = Place(account: "twilio", channel: "general")
            let key = ActionKey(text: "k")
            await #expect(throws: ChatServiceError.rejected("403, error 54007: not allowed")) {
                try await service.perform(
                    ChatAction(.direct(Outgoing("psst"), user: "ana"), in: place), key: key)
            }
            let quiet = Outgoing("psst", isSkippable: true)
            #expect(
                try await service.perform(ChatAction(.direct(quiet, user: "ana"), in: place), key: key)
                    == Receipt())
        }
    }
}
