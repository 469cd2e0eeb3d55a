import Chat
import HTTPServer
import JSON
import Testing

@testable import Services

/// What an account does, and how the server says no to it.
extension MatrixSyncs {
    @Test func `each kind of refusal is told as what has to follow`() async throws {
        let answers: [(Int, String, ChatServiceError)] = [
            (
                429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"slow","retry_after_ms":1500}"#,
                .rateLimited(after: .milliseconds(1500), "M_LIMIT_EXCEEDED: slow")
            ),
            (403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#, .rejected("send in !r: M_FORBIDDEN: no")),
            (413, #"{"errcode":"M_TOO_LARGE","error":"big"}"#, .rejected("send in !r: M_TOO_LARGE: big")),
            (502, "", .unknownOutcome("the server answered 502")),
        ]
        try await withRoom { server, service, _ in
            for (status, body, expected) in answers {
                server.on("PUT /rooms/!r/send", status, body)
                let error = await #expect(throws: ChatServiceError.self) {
                    try await service.perform(
                        ChatAction(.send(Outgoing("x")), in: place), key: ActionKey(text: "k"))
                }
                #expect(error == expected)
            }
            server.on("PUT /rooms/!r/send", 429, "", headers: [("Retry-After", "2")])
            let error = await #expect(throws: ChatServiceError.self) {
                try await service.perform(
                    ChatAction(.send(Outgoing("x")), in: place), key: ActionKey(text: "k"))
            }
            #expect(error == .rateLimited(after: .seconds(2), "the server answered 429"))
        }
    }

    @Test func `a message goes out as a notice under its key, and in the thread of what it answers`()
        async throws
    {
        try await withRoom { server, service, inbox in
            let threaded =
                #"{"type":"m.room.message","event_id":"$2","sender":"@ana:t","origin_server_ts":1,"content":{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.thread","event_id":"$root"}}}"#
            server.sync(answer("s1", [threaded]))
            try await inbox.wait { !$0.events.isEmpty }
            let receipt = try await service.perform(
                ChatAction(.reply(Outgoing("hi"), to: MessageReference(id: "$2")), in: place),
                key: ActionKey(text: "k/1"))
            #expect(receipt == Receipt(message: MessageReference(id: "$sent-k/1"), channel: "!r"))
            let call = try #require(server.calls("PUT /rooms/!r/send/m.room.message/k/1").first)
            #expect(
                call.body == [
                    "body": "hi", "m.mentions": [:], "msgtype": "m.notice",
                    "m.relates_to": [
                        "rel_type": "m.thread", "event_id": "$root", "is_falling_back": false,
                        "m.in_reply_to": ["event_id": "$2"],
                    ], "org.steward": ["key": "k/1"],
                ])
        }
    }

    @Test func `nothing is written in plain text into an encrypted room`() async throws {
        let encryption =
            #"{"type":"m.room.encryption","event_id":"$c","sender":"@ana:t","state_key":"","origin_server_ts":1,"content":{"algorithm":"x"}}"#
        let first = answer("s0", [], state: [joined, encryption])
        try await withRoom(first: first) { server, service, _ in
            #expect(server.said("!r is encrypted: steward can read nothing there and writes nothing"))
            for verb: ChatAction.Verb in [
                .send(Outgoing("x")), .reply(Outgoing("x"), to: MessageReference(id: "$1")),
                .editMessage(MessageReference(id: "$1"), text: "x"),
            ] {
                let error = await #expect(throws: ChatServiceError.self) {
                    try await service.perform(ChatAction(verb, in: place), key: ActionKey(text: "k"))
                }
                #expect(error == .rejected("!r is encrypted, and steward writes nothing in plain text there"))
            }
            // One that we have not seen the state of is asked.
            server.on("GET /rooms/!new/state/m.room.encryption", 200, #"{"algorithm":"x"}"#)
            await #expect(throws: ChatServiceError.self) {
                try await service.perform(
                    ChatAction(.send(Outgoing("x")), in: Place(account: "matrix", channel: "!new")),
                    key: ActionKey(text: "k"))
            }
            #expect(server.calls("PUT /rooms").isEmpty)
        }
    }

    @Test func `a message is deleted with its edits`() async throws {
        let edit =
            #"{"type":"m.room.message","event_id":"$3","sender":"@ana:t","origin_server_ts":1,"content":{"msgtype":"m.text","body":"* n","m.new_content":{"msgtype":"m.text","body":"n"},"m.relates_to":{"rel_type":"m.replace","event_id":"$2"}}}"#
        try await withRoom { server, service, inbox in
            server.sync(answer("s1", [text(2), edit]))
            try await inbox.wait { $0.events.count == 2 }
            _ = try await service.perform(
                ChatAction(.deleteMessage(MessageReference(id: "$2")), in: place), key: ActionKey(text: "k"))
            // One from before is asked for.
            server.on("GET /rooms/!r/relations/$1/m.replace", 200, #"{"chunk":[{"event_id":"$9"}]}"#)
            _ = try await service.perform(
                ChatAction(.deleteMessage(MessageReference(id: "$1")), in: place), key: ActionKey(text: "l"))
            #expect(
                server.calls("PUT /rooms/!r/redact").map(\.path) == [
                    "/rooms/!r/redact/$2/k", "/rooms/!r/redact/$3/k-1", "/rooms/!r/redact/$1/l",
                    "/rooms/!r/redact/$9/l-1",
                ])
        }
    }

    @Test func `who is gone already needs not be removed`() async throws {
        try await withRoom { server, service, _ in
            let no = #"{"errcode":"M_FORBIDDEN","error":"not in the room"}"#
            server.on("POST /rooms/!r/kick", 403, no)
            for _ in 1...2 {
                server.on("GET /rooms/!r/state/m.room.member/@eve:t", 200, #"{"membership":"leave"}"#)
                server.on("GET /rooms/!r/state/m.room.member/@ana:t", 200, #"{"membership":"join"}"#)
            }
            let receipt = try await service.perform(
                ChatAction(.removeMember(user: "@eve:t"), in: place), key: ActionKey(text: "k"))
            #expect(receipt == Receipt(channel: "!r", tookOut: false))
            server.on("POST /rooms/!r/kick", 403, no)
            let error = await #expect(throws: ChatServiceError.self) {
                try await service.perform(
                    ChatAction(.removeMember(user: "@ana:t"), in: place), key: ActionKey(text: "k"))
            }
            #expect(
                error
                    == .rejected(
                        "kick @ana:t in !r needs power 50, steward has 0 - give it that in the room's settings (M_FORBIDDEN: not in the room)"
                    ))
        }
    }

    @Test func `it is known whether whoever is banned was in the room`() async throws {
        try await withRoom { server, service, _ in
            func tookOut(_ user: String) async throws -> Bool? {
                server.on("POST /rooms/!r/ban", 200, "{}")
                return try await service.perform(
                    ChatAction(.ban(user: user, until: nil, reason: nil), in: place),
                    key: ActionKey(text: "k")
                ).tookOut
            }
            for (user, status, answer, expected) in [
                ("@ana:t", 200, #"{"membership":"join"}"#, true),
                ("@eve:t", 200, #"{"membership":"invite"}"#, false),
                ("@zed:t", 404, #"{"errcode":"M_NOT_FOUND","error":"no such event"}"#, false),
                ("@max:t", 500, "{}", nil),
            ] as [(String, Int, String, Bool?)] {
                server.on("GET /rooms/!r/state/m.room.member/\(user)", status, answer)
                let tookOut = try await tookOut(user)
                #expect(tookOut == expected, "\(user)")
            }
        }
    }
}
