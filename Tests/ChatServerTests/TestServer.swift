import Chat
import JSON
import Testing
import WebSocket

@testable import ChatServer

/// A server on loopback with clients; it ends with the body.
struct TestServer: Sendable {
    let loop: SocketLoop
    let server: ChatServer

    static func run(
        _ change: (inout ServerSettings) -> Void = { _ in }, log: Log = .silent,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        settings.writesPerSecond = nil
        change(&settings)
        let loop = try SocketLoop()
        do {
            let server = try await ChatServer.start(settings, loop: loop, log: log)
            do {
                try await body(TestServer(loop: loop, server: server))
                await server.shutdown(grace: .seconds(1))
            } catch {
                await server.shutdown(grace: .seconds(1))
                throw error
            }
            await loop.shutdown(grace: .seconds(1))
        } catch {
            await loop.shutdown(grace: .seconds(1))
            throw error
        }
    }

    var socketURL: String { "ws://127.0.0.1:\(server.port)/v3/wsconnect" }

    func token(_ identity: String, life: Duration = .seconds(3600)) -> String {
        server.issuer.token(for: identity, life: life, at: .now)
    }

    /// A client that has not said `init` yet.
    func stranger() async throws -> TestClient { try await TestClient(socketURL, on: loop) }

    func client(_ identity: String) async throws -> TestClient {
        let client = try await stranger()
        let reply = try await client.start(token: token(identity))
        try #require(reply.status == 200)
        return client
    }
}

extension TestClient {
    /// The links and names that a client reads first.
    func configuration(_ version: String = "v2") async throws -> JSON {
        let frame = try await request("GET", "/Client/\(version)/Configuration")
        try #require(frame.httpStatus == 200)
        return frame.payload
    }

    /// Opens feeds by name and subscribes to them from where they stand; answers what was opened.
    @discardableResult
    func subscribe(_ names: [(path: String, name: String)], version: Int = 4) async throws -> [JSON] {
        var opened: [JSON] = []
        var requests: [JSON] = []
        for (path, name) in names {
            let frame = try await request("GET", "https://cds.us1.twilio.com/v3/\(path)/\(name)")
            try #require(frame.httpStatus == 200, "\(name): \(frame.payload)")
            opened.append(frame.payload)
            requests.append([
                "object_sid": frame.payload["sid"] ?? .null,
                "object_type": .string(String(path.dropLast()).lowercased()),
                "last_event_id": frame.payload["last_event_id"] ?? .null,
            ])
        }
        try await establish(requests, version: version)
        return opened
    }

    func establish(_ requests: [JSON], version: Int = 4, correlation: Int64 = 1_714_557_600_123) async throws
    {
        let frame = try await request(
            "POST", "https://cds.us1.twilio.com/v4/Subscriptions",
            body: [
                "event_protocol_version": .int(Int64(version)), "action": "establish",
                "correlation_id": .int(correlation), "retried_requests": 0, "ttl_in_s": -1,
                "requests": .array(requests),
            ])
        try #require(frame.httpStatus == 202)
        for _ in requests {
            let done = try await event("subscription_established")
            #expect(done.payload["correlation_id"]?.int == correlation)
        }
    }

    func hear(_ channel: SID) async throws {
        try await subscribe([
            ("Documents", "\(channel).channel"), ("Lists", "\(channel).messages"),
            ("Maps", "\(channel).roster"),
        ])
    }
}
