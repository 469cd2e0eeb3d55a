import Chat
import Glibc
import HTTPServer
import JSON
import Testing

@testable import Services

/// How an account stays logged in.
@Suite(.timeLimit(.minutes(1))) struct MatrixLogins {
    private let token = #"{"errcode":"M_UNKNOWN_TOKEN","error":"because","soft_logout":true}"#
    private let hard = #"{"errcode":"M_UNKNOWN_TOKEN","error":"because"}"#

    private func bytes(of file: String) -> String {
        guard let stream = fopen(file, "r") else { return "" }
        defer { fclose(stream) }
        var text = [UInt8](repeating: 0, count: 4096)
        return String(decoding: text.prefix(fread(&text, 1, text.count, stream)), as: UTF8.self)
    }

    @Test func `it logs in once, as one device, and keeps that over restarts`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            await server.logout()
            let again = TestInbox()
            _ = server.login(again)
            try await again.waitUntilUp()
            let logins = server.calls("POST /login")
            #expect(logins.count == 1)
            #expect(
                logins.first?.body == [
                    "identifier": ["type": "m.id.user", "user": "bot"], "device_id": "steward-matrix",
                    "initial_device_display_name": "steward", "refresh_token": true,
                    "type": "m.login.password",
                    "password": "pw",
                ])
            #expect(again.state.withLock { $0.own?.text } == "@bot:t")
            var info = stat()
            #expect(stat(server.file, &info) == 0)
            #expect(info.st_mode & 0o777 == 0o600)
        }
    }

    @Test func `another password account or device is another log-in`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            await server.logout()
            let again = TestInbox()
            _ = server.login(again) { $0.device = "OTHER" }
            try await again.waitUntilUp()
            #expect(server.calls("POST /login").map { $0.body["device_id"] } == ["steward-matrix", "OTHER"])
        }
    }

    @Test func `a token is renewed before it ends, and stored before it is used`() async throws {
        try await withHomeserver { server in
            server.state.withLock { $0.life = 400 }
            let file = server.file
            let storedFirst = Locked<[Bool]>([])
            for _ in 0..<3 {
                server.on("GET /sync") { call in
                    guard let token = call.token, token != "a1" else { return .text(503, "later") }
                    storedFirst.withLock { $0.append(bytes(of: file).contains("\"\(token)\"")) }
                    return .text(503, "later")
                }
            }
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            await eventually { server.calls("POST /refresh").count >= 3 }
            #expect(server.calls("POST /login").count == 1)
            #expect(!server.said("was refused"))
            #expect(storedFirst.withLock { $0.allSatisfy(\.self) })
        }
    }

    @Test func `many requests that are refused at once renew the token once`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            let service = server.login(inbox)
            try await inbox.waitUntilUp()
            server.state.withLock { $0.good = [] }
            let place = Place(account: "matrix", channel: "!r")
            await withTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask {
                        _ = try? await service.perform(
                            ChatAction(.setChannelTitle("x"), in: place), key: ActionKey(text: "\(number)"))
                    }
                }
            }
            #expect(server.calls("POST /refresh").count == 1)
            #expect(server.calls("PUT /rooms/!r/state/m.room.name").count { $0.token == "a2" } == 20)
        }
    }

    @Test func `an answer to a refresh that is lost costs nothing`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            server.on("POST /refresh", 502, "")
            server.state.withLock { $0.good = [] }
            server.sync(#"{"next_batch":"s1"}"#)
            try await inbox.waitUntilUp(times: 2)
            #expect(
                server.calls("POST /refresh").map { $0.body["refresh_token"] } == ["r1", "r1"])
            #expect(server.calls("POST /login").count == 1)
        }
    }

    @Test func `new tokens that the server does not know are given up for those before`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            // As after a database that was brought back from a copy: what comes of the refresh is unknown at once.
            server.on("POST /refresh", 200, #"{"access_token":"lost","refresh_token":"lost too"}"#)
            server.state.withLock { $0.good = [] }
            server.sync(#"{"next_batch":"s1"}"#)
            await eventually { server.calls("GET /sync").last?.token == "a2" }
            #expect(
                server.calls("POST /refresh").map { $0.body["refresh_token"] } == ["r1", "lost too", "r1"])
            #expect(server.calls("POST /login").count == 1)
        }
    }

    @Test(arguments: [401, 403])
    func `a refresh token that is spent means a new log-in, on the same device and in the same place`(
        status: Int
    ) async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            server.on("POST /refresh", status, #"{"errcode":"M_FORBIDDEN","error":"spent"}"#)
            server.state.withLock { $0.good = [] }
            server.sync(#"{"next_batch":"s1"}"#)
            await eventually { server.calls("POST /login").count == 2 }
            await eventually { server.calls("GET /sync").last?.query["since"] == "s1" }
            #expect(server.calls("POST /login").allSatisfy { $0.body["device_id"] == "steward-matrix" })
            #expect(server.calls("GET /sync").count { $0.query["since"] == nil } == 1)
        }
    }

    @Test func `whoever logs us out stops the account, and a later try logs in anew`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            server.state.withLock {
                $0.good = []
                $0.refreshes = []
            }
            server.on("GET /sync", 401, hard)
            server.sync(#"{"next_batch":"s1"}"#)
            try await inbox.wait { $0.failure != nil }
            let reason =
                "logged out by the server (M_UNKNOWN_TOKEN: because); the refresh token was refused, too - see who logged the device \"steward-matrix\" out, then start or reload steward, which logs in anew"
            #expect(inbox.state.withLock { $0.failure } == reason)
            #expect(inbox.state.withLock { $0.statuses.last } == .failed(reason: reason))
            #expect(server.calls("POST /login").count == 1)
            await server.logout()
            let again = TestInbox()
            _ = server.login(again)
            try await again.waitUntilUp()
            #expect(server.calls("POST /login").count == 2)
        }
    }

    @Test func `a server that forgets to say soft has its refresh token tried`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            server.on("GET /sync", 401, hard)
            server.sync(#"{"next_batch":"s1"}"#)
            server.sync(#"{"next_batch":"s2"}"#)
            await eventually { server.calls("GET /sync").last?.token == "a2" }
            #expect(inbox.state.withLock { $0.failure } == nil)
        }
    }

    @Test(arguments: [
        (
            403, "M_FORBIDDEN",
            "log-in refused (M_FORBIDDEN: because) - is \"bot\" right, and what it logs in with?"
        ),
        (
            403, "M_USER_DEACTIVATED",
            "log-in refused (M_USER_DEACTIVATED: because) - is \"bot\" right, and what it logs in with?"
        ),
        (
            404, "M_UNRECOGNIZED",
            "log-in refused (M_UNRECOGNIZED: because) - is \"homeserver\" right, and does it allow such log-ins?"
        ),
    ])
    func `a log-in that is refused says what to look at`(
        _ status: Int, _ code: String, _ reason: String
    ) async throws {
        try await withHomeserver { server in
            server.on("POST /login", status, #"{"errcode":"\#(code)","error":"because"}"#)
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.wait { $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure } == reason)
            #expect(inbox.state.withLock { $0.statuses.last } == .failed(reason: reason))
        }
    }

    @Test func `a server in trouble or a locked account is tried again`() async throws {
        try await withHomeserver { server in
            server.on("POST /login", 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"x","retry_after_ms":50}"#)
            server.on("POST /login", 401, #"{"errcode":"M_USER_LOCKED","error":"x","soft_logout":true}"#)
            server.on("POST /login", 502, "<html>")
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            #expect(server.calls("POST /login").count == 4)
            #expect(
                inbox.state.withLock { $0.statuses }.contains(
                    .down(reason: "log-in refused (M_LIMIT_EXCEEDED: x)")))
        }
    }

    @Test func `a locked account waits and keeps its tokens`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox)
            try await inbox.waitUntilUp()
            server.on("GET /sync", 401, #"{"errcode":"M_USER_LOCKED","error":"x","soft_logout":true}"#)
            server.sync(#"{"next_batch":"s1"}"#)
            try await inbox.waitUntilUp(times: 2)
            #expect(server.calls("POST /refresh").isEmpty)
            #expect(server.calls("POST /login").count == 1)
        }
    }

    @Test func `an account that was closed is given up`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            server.on("GET /sync", 403, #"{"errcode":"M_USER_DEACTIVATED","error":"gone"}"#)
            _ = server.login(inbox)
            try await inbox.wait { $0.failure != nil }
            #expect(
                inbox.state.withLock { $0.failure } == "the account is closed: M_USER_DEACTIVATED: gone")
        }
    }

    @Test func `a token of one's own is used as it is, and renewed when it is over`() async throws {
        try await withHomeserver { server in
            server.state.withLock {
                $0.good = ["mine"]
                $0.refreshes = ["my refresh"]
            }
            let whoami = #"{"user_id":"@bot:t","device_id":"D"}"#
            server.on("GET /account/whoami", 200, whoami)
            let inbox = TestInbox()
            _ = server.login(inbox) {
                $0.login = .init(token: Secret("mine"), refreshToken: Secret("my refresh"))
            }
            try await inbox.waitUntilUp()
            #expect(server.calls("POST /login").isEmpty)
            server.state.withLock { $0.good = [] }
            server.sync(#"{"next_batch":"s1"}"#)
            await eventually { server.calls("GET /sync").last?.token == "a1" }
            await server.logout()
            // After a restart the one that is configured is over, and the one that is kept is not.
            let again = TestInbox()
            _ = server.login(again) {
                $0.login = .init(token: Secret("mine"), refreshToken: Secret("my refresh"))
            }
            try await again.waitUntilUp()
            #expect(server.calls("GET /account/whoami").count == 1)
        }
    }

    @Test func `a token that is refused and cannot be renewed stops the account`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox) { $0.login = .init(token: Secret("bad")) }
            try await inbox.wait { $0.failure != nil }
            let failure = inbox.state.withLock { $0.failure }
            #expect(failure == "the token was refused (M_UNKNOWN_TOKEN: because) - write another")
        }
    }

    @Test func `an application service logs in for its user, and makes it first`() async throws {
        try await withHomeserver { server in
            server.on("POST /login", 403, #"{"errcode":"M_FORBIDDEN","error":"no such user"}"#)
            server.on("POST /register", 200, "{}")
            let inbox = TestInbox()
            _ = server.login(inbox) {
                $0.login = .init(user: "@bot:t", applicationService: Secret("as-token"))
            }
            try await inbox.waitUntilUp()
            #expect(server.calls("POST /login").map(\.token) == ["as-token", "as-token"])
            #expect(server.calls("POST /login").last?.body["type"] == "m.login.application_service")
            #expect(server.calls("POST /register").first?.body["username"] == "bot")
        }
    }

    @Test func `tokens that cannot be stored are not used`() async throws {
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox, folder: server.folder + "/not there")
            try await inbox.wait { state in
                state.statuses.contains {
                    if case .down(let reason) = $0 {
                        reason.hasPrefix("the new token cannot be stored")
                    } else {
                        false
                    }
                }
            }
            #expect(server.calls("GET /sync").isEmpty)
        }
    }
}
