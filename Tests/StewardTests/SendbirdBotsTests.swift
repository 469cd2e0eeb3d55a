import Chat
import Foundation
import Testing

@testable import ChatServer
@testable import steward

/// The bots that steward brings along, in an account on Sendbird.
@Suite(.timeLimit(.minutes(2))) struct BotsOnSendbird {
    private func config(_ bed: TestBed) -> String {
        let bots = Architecture.sources.deletingLastPathComponent().appending(path: "bots").path()
        return bed.sendbirdConfig(
            join: "general, support, staff", "channels: {lobby: {sendbird: general}}\nbots: \"\(bots)\"\n")
    }

    @Test func `questions are answered, slurs cost a native mute, and staff are told`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(config(bed))
            await steward.transcript.wait(for: "ready: sendbird: up")
            try await bed.server.post("how do I get a refund?", in: general, as: "ana")
            await bed.server.wait(in: general) { messages in
                messages.contains { $0.content.body?.contains("Refunds take 3-5 working days") == true }
            }
            try await bed.server.join(general, as: "max")
            try await bed.server.post("you n1ncompoop", in: general, as: "max")
            await bed.server.wait(in: general) { messages in
                !messages.contains { $0.content.body == "you n1ncompoop" }
                    && messages.contains {
                        $0.content.body?.contains("You are not heard here for a day") == true
                    }
            }
            let staff = try #require(bed.server.look { $0.channelURLs["staff"] })
            await bed.server.wait(in: staff) { messages in
                messages.contains { $0.content.body?.contains("Third strike for max") == true }
            }
            // It is the service that keeps them silent: steward need not be there.
            #expect(try await steward.stop() == .fine)
            await #expect(throws: (any Error).self) {
                try await bed.server.post("still here", in: general, as: "max")
            }
            #expect(!bed.texts(in: general).contains("still here"))
        }
    }

    @Test func `what was said while it was away is answered once`() async throws {
        try await TestBed.run { bed, general in
            let first = try bed.steward(config(bed))
            await first.transcript.wait(for: "ready: ")
            #expect(try await first.stop() == .fine)
            try await bed.server.post("how do I get a refund?", in: general, as: "ana")
            for _ in 0..<2 {
                let next = try bed.steward(config(bed))
                await next.transcript.wait(for: "ready: ")
                await bed.server.wait(in: general) { messages in
                    messages.contains { $0.content.body?.contains("Refunds take") == true }
                }
                #expect(try await next.stop() == .fine)
            }
            #expect(bed.texts(in: general).filter { $0.contains("Refunds take") }.count == 1)
        }
    }
}
