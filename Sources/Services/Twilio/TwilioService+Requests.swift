internal import Chat
internal import Crypto
internal import JSON

/// A request that was not answered as it should be.
enum RequestFailure: Error, Sendable {
    /// Nothing was sent.
    case notConnected(String)
    /// Sent; whether it was done is unknown.
    case unknown(String)
    /// The transport did not pass it on.
    case refused(TwilsockStatus, pause: Duration?)
    /// The service's answer, an error.
    case answered(UpstreamAnswer)

    var reason: String {
        switch self {
        case .notConnected(let why), .unknown(let why): why
        case .refused(let status, _): status.description
        case .answered(let answer): answer.reason
        }
    }

    /// Whether waiting may help, when it is only read.
    var mayPass: Bool {
        switch self {
        case .notConnected, .unknown: false
        case .refused(let status, _): status.code != 401
        case .answered(let answer): [429, 502, 503, 504].contains(answer.status)
        }
    }

    /// How long the service wants us to wait.
    var pause: Duration? {
        switch self {
        case .notConnected, .unknown: nil
        case .refused(_, let pause): pause
        case .answered(let answer): answer.retryAfter
        }
    }

    /// The service understood and does not want it; asking again is of no use.
    var isRefusal: Bool {
        guard case .answered(let answer) = self else { return false }
        return (400..<500).contains(answer.status) && ![401, 408, 429].contains(answer.status)
    }

    /// Whether the connection as such is of no more use.
    var isOfConnection: Bool {
        switch self {
        case .notConnected, .unknown: true
        case .refused, .answered: false
        }
    }
}

extension TwilioService {
    /// The service's answer, whatever its status. A token that is refused is replaced and the request sent once more.
    func exchange(
        _ request: UpstreamRequest, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> UpstreamAnswer {
        let used = token
        let answer = try await exchangeOnce(request, on: connection)
        guard answer.status == 401, let used else { return answer }
        await keeper.invalidate(used)
        do {
            try await renew(instead: used, on: connection)
        } catch {
            return answer
        }
        return try await exchangeOnce(request, on: connection)
    }

    private func exchangeOnce(
        _ request: UpstreamRequest, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> UpstreamAnswer {
        let wait = pace.next(at: clock.now())
        if wait > .zero, (try? await clock.sleep(wait)) == nil { throw .notConnected("cancelled") }
        let reply: TwilsockReply
        do {
            reply = try await connection.ask(
                { request.write(to: &$0) }, payload: request.body, until: clock.now() + timing.reply,
                clock: clock)
        } catch {
            switch error {
            case .notSent(let why): throw .notConnected(why)
            case .lost(let why): throw .unknown(why)
            case .full: throw .notConnected(error.reason)
            }
        }
        guard reply.status.isFine else {
            throw .refused(reply.status, pause: reply.backoff?.lowerBound)
        }
        return UpstreamAnswer(
            status: reply.httpStatus ?? reply.status.code, headers: reply.headers, body: reply.payload)
    }

    /// Reads something; tried again where that may help, as Twilio's clients do.
    func fetch(
        _ url: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> UpstreamAnswer {
        var backoff = Backoff(first: .seconds(1), most: .seconds(4))
        while true {
            let failure: RequestFailure
            do {
                let answer = try await exchange(.get(url), on: connection)
                if answer.isFine { return answer }
                failure = .answered(answer)
            } catch {
                failure = error
            }
            guard failure.mayPass, backoff.failures < 3 else { throw failure }
            let wait = max(backoff.next(random: clock.random()), failure.pause ?? .zero)
            if (try? await clock.sleep(wait)) == nil { throw .notConnected("cancelled") }
        }
    }

    /// The same; nil when it is not there, or not ours to see.
    func fetchIfThere(
        _ url: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> UpstreamAnswer? {
        do {
            return try await fetch(url, on: connection)
        } catch {
            if case .answered(let answer) = error, answer.status == 404 || answer.status == 403 { return nil }
            throw error
        }
    }

    /// Changes something, once: whether a change may be repeated is not decided here. Waits for the end of one that the
    /// service has only begun.
    func change(
        _ request: UpstreamRequest, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> UpstreamAnswer {
        var request = request
        request.headers.append(("X-Twilio-Mutation-Id", Self.newUUID()))
        let answer = try await exchange(request, on: connection)
        guard answer.status == 202, let url = answer.json["resource_url"]?.string else { return answer }
        var backoff = Backoff(first: .milliseconds(50), most: .milliseconds(1600))
        for _ in 0..<6 {
            if (try? await clock.sleep(backoff.next(random: clock.random()))) == nil { break }
            let resource = try await exchange(.get(url), on: connection)
            if resource.status == 200 { return resource }
        }
        throw .unknown("the service has begun it and does not say that it is done")
    }

    private static func newUUID() -> String {
        var bytes = randomBytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex[$0]) }.joined(separator: "-")
    }

    // MARK: Logging in

    /// Says who we are; throws `SessionEnd` when that is not accepted.
    func logIn(_ token: AccessToken, on connection: TwilsockConnection) async throws {
        let known = continuationToken
        let reply = try await connection.ask(
            { writer in
                writer.member("method", "init")
                writer.member("token", token.text)
                writer.member("continuation_token", known.map { .string($0) } ?? JSON.null)
                writer.member("metadata", Self.metadata(product: settings.isChat ? "chat" : "conversations"))
                writer.member("registrations", Self.registrations)
                writer.member("tweaks", JSON.null)
                writer.member("capabilities", ["client_update", "offline_storage"] as JSON)
            }, until: clock.now() + timing.initReply, clock: clock)
        guard reply.status.isFine else {
            throw SessionEnd(reply.status, backoff: reply.backoff, in: "log-in")
        }
        if let token = reply.continuationToken, !token.isEmpty { continuationToken = token }
    }

    private static func metadata(product: String) -> JSON {
        ["ver": "0.13.11", "env": "steward", "os": "Linux", "type": .string(product), "sdk": "steward"]
    }

    private static let registrations: JSON = [
        [
            "product": "ip_messaging", "type": "ers", "notification_protocol_version": 0,
            "message_types": [
                "twilio.ipmsg.typing_indicator", "twilio.sync.event", "com.twilio.rtd.cds.document",
                "com.twilio.rtd.cds.list", "com.twilio.rtd.cds.map",
            ],
        ]
    ]

    // MARK: New tokens

    /// Gives the connection each new token, as long as it lasts.
    func followTokens(on connection: TwilsockConnection) async throws {
        while let token {
            do {
                try await renew(instead: token, on: connection)
            } catch is TokenError {
                // The keeper has said why. The old token is good until the server says otherwise.
                try await clock.sleep(.seconds(5))
            }
        }
    }

    /// Waits for a token other than this one and gives it to the connection; one at a time, and not twice.
    func renew(instead old: AccessToken, on connection: TwilsockConnection) async throws {
        guard token == old else { return }
        let new = try await keeper.replacement(of: old)
        while isRenewing { await withCheckedContinuation { renewals.append($0) } }
        guard token == old, token != new else { return }
        isRenewing = true
        defer {
            isRenewing = false
            let waiting = renewals
            renewals = []
            for renewal in waiting { renewal.resume() }
        }
        let reply = try await connection.ask(
            {
                $0.member("method", "update")
                $0.member("token", new.text)
            }, until: clock.now() + timing.reply, clock: clock)
        token = new
        guard reply.status.isFine else {
            let end = SessionEnd(reply.status, backoff: reply.backoff, in: "new token")
            // Whoever asked may be no part of the connection.
            ordered = end
            connection.kill()
            throw end
        }
    }
}
