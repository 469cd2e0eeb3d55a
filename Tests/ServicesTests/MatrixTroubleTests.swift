import Chat
import HTTPServer
import JSON
import Testing

@testable import Services

/// What a newcomer meets: proxies, addresses that are not quite right, rooms that are not there, and too little power.
@Suite(.timeLimit(.minutes(1))) struct MatrixTroubles {
    private let place = Place(account: "matrix", channel: "!r")

    private func words(_ server: ScriptedHomeserver, _ status: Int) -> String {
        "\(server.address) answers, but not as a Matrix homeserver does (status \(status), text/plain)"
            + " - is \"homeserver\" right, or does something stand before it?"
    }

    /// A room in which ana has all power and the bot has 50.
    private func room(more: String = "") -> String {
        """
        {"next_batch":"s0","rooms":{"join":{"!r":{"state":{"events":[
        {"type":"m.room.member","event_id":"$j","sender":"@bot:t","state_key":"@bot:t","origin_server_ts":1,"content":{"membership":"join"}},
        {"type":"m.room.canonical_alias","event_id":"$a","sender":"@ana:t","state_key":"","origin_server_ts":1,"content":{"alias":"#lobby:t"}},
        {"type":"m.room.power_levels","event_id":"$p","sender":"@ana:t","state_key":"","origin_server_ts":1,"content":{"users":{"@ana:t":100,"@bot:t":50},"events":{"m.room.power_levels":100}}}\(more)
        ]}}}}}
        """
    }

    private func withRoom(
        _ first: String? = nil, join: [String] = [],
        _ body: (ScriptedHomeserver, MatrixService, TestInbox) async throws -> Void
    ) async throws {
        try await withHomeserver { server in
            let first = first ?? room()
            server.state.withLock { $0.first = first }
            let inbox = TestInbox()
            let service = server.login(inbox) { $0.join = join }
            try await inbox.waitUntilUp()
            try await body(server, service, inbox)
        }
    }

    // MARK: Answers of others

    @Test(arguments: [401, 403, 404, 405, 400])
    func `a proxy's no is no homeserver's, and a message waits`(_ status: Int) async throws {
        try await withRoom { server, service, _ in
            let action = ChatAction(.send(Outgoing("x")), in: place)
            for body in ["<html>", #"{"message":"no"}"#] {
                server.on("PUT /rooms/!r/send") { _ in .text(status, body) }
                let error = await #expect(throws: ChatServiceError.self) {
                    try await service.perform(action, key: ActionKey(text: "k"))
                }
                #expect(error == .unreachable(words(server, status)))
            }
            let receipt = try await service.perform(action, key: ActionKey(text: "k"))
            #expect(receipt.message?.id == "$sent-k")
            let said = server.lines.withLock { $0.count { $0.contains("send waits: ") } }
            #expect(said == 1)
            #expect(server.calls("POST /refresh").isEmpty)
        }
    }

    @Test func `a page that says 200 is no answer`() async throws {
        try await withRoom { server, service, _ in
            server.onProxy("PUT /rooms/!r/send", 200)
            let error = await #expect(throws: ChatServiceError.self) {
                try await service.perform(
                    ChatAction(.send(Outgoing("x")), in: place), key: ActionKey(text: "k"))
            }
            // Looked for before it is sent again.
            #expect(error == .unknownOutcome(words(server, 200)))
        }
    }

    @Test(arguments: [401, 403, 404, 405, 200])
    func `a log-in before which a proxy stands is tried again`(_ status: Int) async throws {
        try await withHomeserver { server in
            server.onProxy("POST /login", status)
            server.onProxy("GET /sync", status)
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            #expect(server.calls("POST /login").count == 2)
            let why = words(server, status)
            let statuses = inbox.state.withLock { $0.statuses }
            #expect(statuses.contains(.down(reason: "cannot log in: \(why)")))
            #expect(inbox.state.withLock { $0.failure } == nil)
        }
    }

    @Test(arguments: [401, 403, 404, 200])
    func `a proxy logs nobody out`(_ status: Int) async throws {
        try await withRoom { server, _, inbox in
            server.onProxy("GET /sync", status)
            server.sync(#"{"next_batch":"s1"}"#)
            try await inbox.waitUntilUp(times: 2)
            #expect(inbox.state.withLock { $0.statuses }.contains(.down(reason: words(server, status))))
            #expect(server.calls("POST /refresh").isEmpty)
            #expect(server.calls("POST /login").count == 1)
        }
    }

    @Test func `a refresh that a proxy answers costs no token`() async throws {
        try await withRoom { server, _, inbox in
            server.onProxy("POST /refresh", 403)
            server.state.withLock { $0.good = [] }
            server.sync(#"{"next_batch":"s1"}"#)
            try await inbox.waitUntilUp(times: 2)
            #expect(server.calls("POST /refresh").map { $0.body["refresh_token"] } == ["r1", "r1"])
            #expect(server.calls("POST /login").count == 1)
        }
    }

    @Test(arguments: [301, 302, 308])
    func `who is sent on to another place is told which`(_ status: Int) async throws {
        try await withHomeserver { server in
            server.onProxy(
                "POST /login", status,
                headers: [("Location", "https://me:pw@matrix.example.org/_matrix/client/v3/login?x=1")])
            server.onProxy("POST /login", status, headers: [("Location", "https://sso.example.org/?x=1")])
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            let statuses = inbox.state.withLock { $0.statuses }
            let place = "https://matrix.example.org - write that as \"homeserver\""
            #expect(
                statuses.contains(
                    .down(reason: "cannot log in: \(server.address) sends steward on to \(place)")))
            #expect(statuses.contains(.down(reason: "cannot log in: \(words(server, status))")))
        }
    }

    // MARK: Rooms

    @Test func `rooms that cannot be used are said with their reason`() async throws {
        let encryption =
            #",{"type":"m.room.encryption","event_id":"$x","sender":"@ana:t","state_key":"","origin_server_ts":1,"content":{}}"#
        try await withHomeserver { server in
            let first = room(more: encryption)
            server.state.withLock { $0.first = first }
            for _ in 0..<200 {
                server.on("POST /join/!closed", 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
            }
            let inbox = TestInbox()
            let service = server.login(inbox) { $0.join = ["!closed"] }
            try await inbox.waitUntilUp()
            let rights = await service.rights()
            #expect(
                rights.compactMap { rights in
                    rights.problem.map { "\(rights.channel.uniqueName ?? "") \($0)" }
                } == [
                    "!closed cannot be joined: M_FORBIDDEN: no",
                    "#lobby:t is encrypted: steward can read nothing there and writes nothing; use a room without encryption",
                ])
            #expect(server.said("!closed cannot be joined: M_FORBIDDEN: no; it is tried again"))
        }
    }

    @Test func `a room that is joined after an invitation is told of`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox) { $0.invites = ["@ana:t"] }
            try await inbox.waitUntilUp()
            server.on("POST /join/!a", 200, #"{"room_id":"!a"}"#)
            server.sync(
                #"{"next_batch":"s1","rooms":{"invite":{"!a":{"invite_state":{"events":[{"type":"m.room.member","state_key":"@bot:t","sender":"@ana:t","content":{"membership":"invite"}}]}}}}}"#
            )
            await eventually { server.said("joined !a after an invitation") }
        }
    }

    // MARK: Power

    @Test func `a denied action says which power it needs`() async throws {
        try await withRoom { _, service, _ in
            let rights = try #require(await service.rights().first)
            #expect(rights.needed == ["mute": "power 100", "unmute": "power 100"])
            #expect(rights.roles == ["power 50"])
            #expect(rights.problem == nil)
        }
    }

    @Test func `what is denied in a room is known at once, and follows its power levels`() async throws {
        try await withRoom { server, service, inbox in
            let room = try #require(await service.rights().first).channel.id
            #expect(service.denied(in: room) == ["mute", "unmute"])
            for (number, power) in [0, 100].enumerated() {
                server.sync(
                    #"{"next_batch":"s\#(number)","rooms":{"join":{"!r":{"timeline":{"events":[{"type":"m.room.power_levels","event_id":"$p\#(number)","sender":"@ana:t","state_key":"","origin_server_ts":2,"content":{"users":{"@ana:t":100,"@bot:t":\#(power)},"events":{"m.room.power_levels":100}}}]}}}}}"#
                )
                try await inbox.wait { $0.events.count == number + 1 }
                let denied = service.denied(in: room)
                #expect(denied.isSuperset(of: ["mute", "delete", "kick"]) == (power == 0))
                #expect(denied.isEmpty == (power == 100))
            }
            #expect(service.denied(in: Identities().realm("matrix").channel("!other")) == [])
        }
    }

    @Test func `a refusal names room, user and action, and what it takes`() async throws {
        let no = #"{"errcode":"M_FORBIDDEN","error":"no"}"#
        let refusals: [(ChatAction.Verb, String, String)] = [
            (
                .mute(user: "@eve:t", until: nil, reason: nil), "PUT /rooms/!r/state/m.room.power_levels",
                "mute @eve:t in #lobby:t needs power 100, steward has 50 - give it that in the room's settings (M_FORBIDDEN: no)"
            ),
            (
                .removeMember(user: "@ana:t"), "POST /rooms/!r/kick",
                "kick @ana:t in #lobby:t: they have power 100 and steward has 50, which must be more (M_FORBIDDEN: no)"
            ),
            (
                .setChannelTitle("x"), "PUT /rooms/!r/state/m.room.name",
                "title in #lobby:t: M_FORBIDDEN: no"
            ),
        ]
        try await withRoom { server, service, _ in
            for (verb, request, reason) in refusals {
                server.on(request, 403, no)
                server.on("GET /rooms/!r/state/m.room.member", 200, #"{"membership":"join"}"#)
                let error = await #expect(throws: ChatServiceError.self) {
                    try await service.perform(ChatAction(verb, in: place), key: ActionKey(text: "k"))
                }
                #expect(error == .rejected(reason))
            }
        }
    }
}
