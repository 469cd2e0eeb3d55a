import Glibc
import JSON
import Peers
import Testing

@testable import ChatServer

/// Clients that no one here wrote.
@Suite(
    .enabled(if: SendbirdClients.areInstalled, "others' clients are not installed: make sendbird-clients"),
    .timeLimit(.minutes(1)))
struct SendbirdForeign {
    /// The application that the chat client is made for.
    private static let application = "2515BDA8-9D3A-47CF-9325-330BC37ADA13"

    @Test func `the Platform API's own client makes users, channels and messages`() async throws {
        try await TestServer.sendbird { server, _ async throws in
            let client = try SendbirdClients.start(server, ["platform"])
            let (status, lines) = await client.finish()
            #expect(status == 0)
            var said = lines.map { $0.split(separator: " ").map(String.init) }
            let tokens = said.prefix(2).compactMap(\.last)
            #expect(Set(tokens).count == 2)
            for place in said.indices.prefix(2) { said[place].removeLast() }
            let url = said.first { $0.first == "channel" }?[1] ?? ""
            #expect(
                said.map { $0.joined(separator: " ") } == [
                    "user ann Ann", "user bob Bob", "session True", "channel \(url) 2", "channels 1",
                    "members ann bob", "sent hello bob", "got hello True", "frozen True", "open room 0",
                    "refused 400 True",
                ])
        }
    }

    @Test func `a chat client of others logs in, sends, receives and hears what happens`() async throws {
        try await TestServer.sendbird({ $0.sendbird.application = Self.application }) {
            server, api async throws in
            let user = try await api.ask(
                "POST", "users", ["user_id": "dora", "nickname": "Dora", "issue_access_token": true])
            let token = try #require(user["access_token"]?.string)
            let ann = try await server.bird("ann")
            let url = try await api.group(
                ["ann", "dora"], ["name": "Talk", "custom_type": "group", "inviter_id": "ann"])
            let client = try SendbirdClients.start(server, ["chat", "dora", token, url])
            #expect(await client.line() == "ready Dora")
            #expect(await client.line() == "channel \(url) Talk")
            let hello = try await ann.event("MESG")
            #expect(hello["message"] == "hello from afar")
            #expect(hello["user"]?["name"] == "Dora")
            // Its own words come back as the answer to its command.
            #expect(await client.line() == "message Dora hello from afar")
            let said = try await ann.message("hi Dora", in: url, ["data": "{}"])
            #expect(await client.line() == "message ann hi Dora")
            #expect(try await ann.system(10900)["data"]?["user_id"] == "dora")
            #expect(try await ann.event("MESG")["message"] == "you said: hi Dora")
            #expect(await client.line() == "message Dora you said: hi Dora")
            let number = try #require(said["msg_id"]?.int)
            try await api.user(ann).ask("DELETE", "group_channels/\(url)/messages/\(number)")
            #expect(await client.line() == "deleted \(number)")
            try await api.ask("POST", "users", ["user_id": "eve", "nickname": "Eve"])
            try await api.ask(
                "POST", "group_channels/\(url)/invite", ["user_ids": ["eve"], "inviter_id": "ann"])
            #expect(await client.line() == "joined Eve")
        }
    }
}

/// What `make sendbird-clients` installs.
enum SendbirdClients {
    private static let tests = String(#filePath.dropLast("ChatServerTests/SendbirdForeignTests.swift".count))
    private static let folder = tests + "../.build/sendbird-clients"

    static var areInstalled: Bool { access(folder + "/installed", F_OK) == 0 }

    static func start(_ server: TestServer, _ words: [String]) throws -> Peer {
        try Peer(
            running: [
                folder + "/bin/python", tests + "Support/SendbirdClients/talk.py", server.server.address,
                words[0] == "platform" ? SendbirdTestAPI.token : "none",
            ] + words)
    }
}
