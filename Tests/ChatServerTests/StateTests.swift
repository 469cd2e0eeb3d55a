import Chat
import Foundation
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct States {
    private func file() -> String { FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).db" }

    private func remove(_ file: String) {
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) }
    }

    /// All that clients can see, as text.
    private func everything(_ server: ChatServer, as identity: String) -> [String] {
        let links = TwilioLinks(names: server.names, mediaBase: "")
        return server.look { world in
            var lines: [String] = []
            for (sid, id) in world.feeds.sorted(by: { $0.key.text < $1.key.text }) {
                guard let feed = world.state(of: id) else { continue }
                lines.append(
                    String(
                        decoding: TwilioAnswer.json { writer in
                            SyncShapes.descriptor(
                                id, feed, name: world.uniqueName(of: id), links: links, &writer)
                            writer.array("items") { writer in
                                for item in SyncItems(id, of: world).page(.init(size: 1000)).items {
                                    writer.object { SyncShapes.item(item, of: id, sid, links: links, &$0) }
                                }
                            }
                        }.body, as: UTF8.self))
                for event in feed.log.isEmpty ? [] : feed.events(after: -1) {
                    lines.append("\(sid) \(event.id) \(event.kind)")
                }
            }
            return lines
        }
    }

    @Test func `a world in a file is found again as it was`() async throws {
        let file = file()
        defer { remove(file) }
        var room: SID?
        var before: [String] = []
        var names: ServiceNames?
        try await TestServer.run({
            $0.state = file; $0.keep = 20
        }) { server async throws in
            let made = try await server.server.channel("room", friendlyName: "Räum", as: "ana")
            for name in ["ana", "bot", "carol"] { try await server.server.join(made, as: name) }
            for number in 0..<30 { try await server.server.post("\(number)", in: made, as: "ana") }
            let messages = server.server.messages(in: made)
            #expect(messages.count == 20)
            try await server.server.delete(messages[5].sid, in: made, as: "ana")
            try await server.server.leave(made, as: "carol")
            try await server.server.change { world throws(WorldError) in
                _ = try world.edit(messages[7].sid, in: made, as: "ana", at: .now) { $0.body = "edited" }
                _ = try world.setRead(12, in: made, as: "bot", at: .now)
                _ = try world.editUser("ana", friendlyName: "Ana", as: "ana", at: .now)
                let gone = try world.createChannel(uniqueName: "gone", as: "ana", at: .now)
                _ = try world.join(gone.sid, "ana", as: "ana", at: .now)
                try world.deleteChannel(gone.sid, as: "ana", at: .now)
                let secret = try world.createChannel(isPrivate: true, as: "ana", at: .now)
                _ = try world.invite("bot", to: secret.sid, as: "ana", at: .now)
            }
            room = made
            names = server.server.names
            before = everything(server.server, as: "bot")
        }
        try await TestServer.run({
            $0.state = file; $0.keep = 20
        }) { server async throws in
            #expect(server.server.names == names)
            let after = everything(server.server, as: "bot")
            #expect(after.count == before.count)
            for (one, other) in zip(after, before) { #expect(one == other) }
            let next = try await server.server.post("next", in: try #require(room), as: "ana")
            #expect(next.index == 30)
            #expect(server.server.look { $0.channels[next.sid] } == nil)
            let found = try server.server.look { world throws(WorldError) in
                try world.channel("room", for: "bot").sid
            }
            #expect(found == room)
        }
    }

    @Test func `a client goes on over a restart where it was`() async throws {
        let file = file()
        defer { remove(file) }
        var token = ""
        var known: JSON = .null
        try await TestServer.run({ $0.state = file }) { server async throws in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot"] { try await server.server.join(room, as: name) }
            let client = try await server.stranger()
            token = server.token("bot")
            try await client.start(token: token)
            let opened = try await client.subscribe([("Lists", "\(room).messages")])
            try await server.server.post("0", in: room, as: "ana")
            let heard = try await client.event("list_item_added")
            known = [
                "object_sid": opened[0]["sid"] ?? .null, "object_type": "list",
                "last_event_id": heard.body["id"] ?? .null,
            ]
            try await server.server.post("1", in: room, as: "ana")
            let deleted = try await server.server.post("2", in: room, as: "ana")
            try await server.server.delete(deleted.sid, in: room, as: "ana")
        }
        try await TestServer.run({ $0.state = file }) { server async throws in
            let client = try await server.stranger()
            #expect(try await client.start(token: token).status == 200)
            try await client.establish([known])
            let told = await client.notifications()
            #expect(told.map(\.event) == ["list_item_added", "list_item_added", "list_item_removed"])
            #expect(told.map { $0.body["id"]?.int } == [1, 2, 3])
            #expect(told.map { $0.body["item_data"]?["text"]?.string } == ["1", "2", "2"])
        }
    }

    @Test func `worlds in memory have nothing in common`() async throws {
        try await TestServer.run { one async throws in
            try await TestServer.run { other async throws in
                #expect(one.server.names.service != other.server.names.service)
                #expect(throws: TokenIssuer.Refusal.issuer) {
                    try other.server.issuer.check(one.token("bot"), at: .now)
                }
            }
        }
    }

    @Test func `a second server keeps off the state of the first`() async throws {
        let file = file()
        defer { remove(file) }
        try await TestServer.run({ $0.state = file }) { server async throws in
            var settings = ServerSettings()
            settings.state = file
            let error = await #expect(throws: ChatServer.StartError.self) {
                try await ChatServer.start(settings, loop: server.loop)
            }
            #expect(
                error?.description
                    == "\(file): another chat server works on this file - stop it, or name another file for the state"
            )
        }
    }

    @Test func `a server that was stopped may be stopped again`() async throws {
        let loop = try SocketLoop()
        let server = try await ChatServer.start(ServerSettings(), loop: loop)
        async let first: Void = server.shutdown()
        async let second: Void = server.shutdown()
        _ = await (first, second)
        await server.shutdown()
        await loop.shutdown(grace: .seconds(1))
    }

    @Test(arguments: [
        (0 as Int64, "1970-01-01T00:00:00.000Z"), (1_714_564_800_007, "2024-05-01T12:00:00.007Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
    ])
    func `times are written as they are everywhere`(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).text == text)
    }
}
