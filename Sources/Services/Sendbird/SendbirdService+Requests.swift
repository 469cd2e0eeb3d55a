internal import Chat
internal import HTTP
internal import JSON

/// A request over HTTP.
struct SendbirdRequest: Sendable {
    /// What lets it in.
    enum Credential: Sendable {
        case session
        /// Of the Platform API, which may do everything.
        case platform
        case token(AccessToken)
    }

    var method: String
    /// Below `/v3`.
    var path: String
    var body: JSON?
    var credential: Credential
    var query: [(String, String)] = []

    init(
        _ method: String, _ path: String, _ body: JSON? = nil, query: [(String, String)] = [],
        credential: Credential = .session
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.query = query
        self.credential = credential
    }

    var bucket: SendbirdLimits.Bucket { method == "GET" ? .read : .write }
}

extension SendbirdService {
    /// Asks once. A session that has ended is renewed, and the request sent once more.
    func request(_ request: SendbirdRequest) async throws(SendbirdFailure) -> JSON {
        try await pace(request.bucket)
        let key = login.key
        do {
            return try await send(request)
        } catch {
            guard case .session = request.credential, case .refused(let refusal) = error,
                refusal.isAboutSession
            else { throw error }
            if refusal.isTokenRefusal, let token = login.token { await keeper.invalidate(token) }
            if let failure = await renew(instead: key) { throw failure }
            return try await send(request)
        }
    }

    /// Reads something; tried again where that may help.
    func fetch(
        _ path: String, _ query: [(String, String)] = []
    ) async throws(SendbirdFailure) -> JSON {
        var backoff = Backoff(first: .seconds(1), most: .seconds(8))
        while true {
            do {
                return try await request(SendbirdRequest("GET", path, query: query))
            } catch {
                let isOfTransport = if case .unknown = error { true } else { false }
                guard error.mayPass || isOfTransport, backoff.failures < 4, connection != nil else {
                    throw error
                }
                var wait = backoff.next(random: clock.random())
                if case .refused(let refusal) = error, let pause = refusal.pause { wait = max(pause, wait) }
                if (try? await clock.sleep(wait)) == nil { throw .notConnected("cancelled") }
            }
        }
    }

    /// Once, whatever comes of it.
    func send(_ request: SendbirdRequest) async throws(SendbirdFailure) -> JSON {
        var headers = headers(for: request.credential)
        var bytes: [UInt8]?
        if let body = request.body {
            headers.append(("Content-Type", "application/json; charset=utf-8"))
            bytes = body.bytes()
        }
        return try await send(request.method, request.path, request.query, headers, bytes)
    }

    func send(
        _ method: String, _ path: String, _ query: [(String, String)] = [], _ headers: [(String, String)],
        _ body: [UInt8]?, timeout: Duration? = nil
    ) async throws(SendbirdFailure) -> JSON {
        let answer: IncomingAnswer
        do {
            let url = query.reduce(settings.requestAddress + "/v3" + path) { $0.adding($1.0, $1.1) }
            answer = try await tools.http.send(
                OutgoingRequest(
                    method: method, url: url, headers: headers, body: body, timeout: timeout ?? timing.request
                ))
        } catch {
            throw error.mayHaveArrived ? .unknown(error.text) : .notConnected(error.text)
        }
        var refusal: SendbirdRefusal?
        let json = (try? JSON(parsing: answer.body)) ?? (answer.body.isEmpty ? .object([:]) : .null)
        if json["error"]?.bool == true || !(200..<300).contains(answer.status) {
            refusal = SendbirdRefusal(
                code: json["code"]?.int ?? 0, message: json["message"]?.string ?? "", status: answer.status)
            let wait = answer.header("x-ratelimit-retryafter") ?? answer.header("retry-after")
            refusal?.pause = wait.flatMap { Double($0) }.map {
                .milliseconds(Int64(min(max($0, 0), 3600) * 1000))
            }
        }
        if let refusal { throw .refused(refusal) }
        return json
    }

    func headers(for credential: SendbirdRequest.Credential) -> [(String, String)] {
        var headers = [
            ("SendBird", "JS,noAgent,\(Self.version),\(settings.app)"), ("SB-User-Agent", Self.agent),
            ("App-Id", settings.app), ("Request-Sent-Timestamp", "\(clock.now().milliseconds)"),
            ("Accept", "application/json"),
        ]
        switch credential {
        case .session: if let key = login.key { headers.append(("Session-Key", key)) }
        case .platform:
            if let key = settings.apiToken { headers.append(("Api-Token", key.reveal())) }
        case .token(let token):
            if !token.text.isEmpty { headers.append(("Access-Token", token.text)) }
        }
        return headers
    }
}
