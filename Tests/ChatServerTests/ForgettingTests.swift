import Chat
import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(3))) struct Forgetting {
    /// How much the world and its audience remember.
    private func size(_ server: ChatServer) async -> [Int] {
        let world = server.look { world in
            [
                world.channels.count, world.channelNames.count, world.feeds.count, world.medias.count,
                world.users.count, world.identities.count,
                world.users.values.reduce(0) { $0 + $1.memberships.count },
            ]
        }
        let audience = await withCheckedContinuation { continuation in
            server.hall.take { _ in { audience in continuation.resume(returning: audience.size) } }
        }
        return world + [audience]
    }

    @Test func `ten thousand channels that came and went leave nothing behind`() async throws {
        try await TestServer.run { server async throws in
            let chat = server.server
            let ana = try await TestPage(server, name: "ana")
            _ = try await ana.hear("welcome")
            let bot = try await server.client("bot")
            let stays = try await chat.channel("stays", as: "ana")
            for name in ["ana", "bot"] { try await chat.join(stays, as: name) }
            try await bot.hear(stays)
            let before = await size(chat)
            for number in 0..<10_000 {
                try await chat.change { world throws(WorldError) in
                    let room = try world.createChannel(
                        uniqueName: "room \(number)", isPrivate: number % 2 == 0, as: "ana", at: .now)
                    for name in ["ana", "bot"] {
                        _ = try world.join(room.sid, name, as: "ana", at: .now)
                    }
                    let media = Media(
                        sid: .fresh(.media), category: "media", filename: "a", contentType: "text/plain",
                        size: 1, author: "ana", uploaded: .now)
                    world.add(media, content: [1])
                    _ = try world.post(
                        Message.Content(body: "hi", medias: [media]), in: room.sid, as: "ana", at: .now)
                }
                let room = try #require(chat.look { $0.channelNames["room \(number)"] })
                // Somebody listens to some of them.
                if number % 100 == 0 { try await bot.hear(room) }
                try await chat.change { world throws(WorldError) in
                    try world.deleteChannel(room, as: "ana", at: .now)
                }
            }
            #expect(await size(chat) == before)
            #expect(chat.look { $0.users["ana"]?.membershipFeed.log.count ?? 0 } <= 1000)
        }
    }
}
