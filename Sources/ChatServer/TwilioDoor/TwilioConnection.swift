internal import Chat
internal import JSON
internal import WebSocket

/// One client's socket, from the first frame to the last.
final class TwilioConnection: Connected, Sendable {
    let door: TwilioDoor
    let socket: WebSocket
    let outbox = Outbox()
    let links: TwilioLinks
    let state: Locked<State>

    struct State: Sendable {
        /// Nil until `init` was accepted.
        var session: Session?
        var heard: Timestamp
        var nextPing: Timestamp
        /// When the socket is closed if the client does not do so.
        var closing: Timestamp?
        var lastFrame: UInt64 = 0
        /// A dead line, for tests: nothing comes in or goes out.
        var isSilent = false
        /// An event held back to come out of order, for tests.
        var heldBack: TwilioNotification?
    }

    /// What `init` and later frames agreed on.
    struct Session: Sendable {
        let identity: String
        var claims: TokenIssuer.Claims
        var warnAt: Timestamp?
        var wantsUpdates: Bool
        /// The types of notifications asked for, by registration.
        var registered: [String: Set<String>]
    }

    /// Frames of ours are numbered; this part of the number tells connections apart.
    private let frameSpace = UInt64.random(in: .min ... .max)
    /// How long a client may take to say `init`, and to close after it was told to.
    private static let patience = (start: Duration.seconds(30), close: Duration.seconds(3))

    init(_ socket: WebSocket, door: TwilioDoor, mediaBase: String) {
        self.socket = socket
        self.door = door
        links = TwilioLinks(names: door.issuer.names, mediaBase: mediaBase)
        let now = Timestamp.now
        state = Locked(
            State(heard: now, nextPing: now + door.settings.pingInterval, closing: now + Self.patience.start))
    }

    /// Until the socket is over.
    func run() async {
        async let sending: Void = send()
        await read()
        outbox.close()
        await sending
        leave()
    }

    private func read() async {
        let reader = JSONReader(loneSurrogates: .replaced)
        while let messages = try? await socket.receive() {
            state.withLock { $0.heard = .now }
            for message in messages {
                guard case .binary(let frame) = message else {
                    close(code: 406, "frames are binary")
                    continue
                }
                guard !isDeaf else { continue }
                handle(frame, reader)
            }
            await outbox.room()
            await door.hall.ready()
        }
    }

    private var isDeaf: Bool {
        let (isSilent, isClosing) = state.withLock { ($0.isSilent, $0.session != nil && $0.closing != nil) }
        if isSilent || isClosing { return true }
        guard door.faults.take(.silent, for: identity) else { return false }
        state.withLock { $0.isSilent = true }
        return true
    }

    private func send() async {
        while let items = await outbox.take() {
            // In slices, so that the socket holds no more than it is meant to.
            for start in stride(from: 0, to: items.count, by: 64) {
                guard !state.withLock({ $0.isSilent }) else { continue }
                let frames = items[start..<min(start + 64, items.count)].map { item in
                    switch item {
                    case .frame(let frame): SocketMessage.binary(frame)
                    case .notification(let notification): SocketMessage.binary(frame(notification))
                    }
                }
                guard (try? await socket.send(frames)) != nil else { return }
            }
        }
    }

    private func frame(_ notification: TwilioNotification) -> [UInt8] {
        TwilsockFrame.make(
            method: "notification", id: nextID(), payloadType: "application/json",
            payload: notification.payload
        ) { writer in
            writer.member("message_type", notification.type)
            writer.member("notification_ctx_id", "")
        }
    }

    func nextID() -> String {
        let number = state.withLock { state in
            state.lastFrame += 1
            return state.lastFrame
        }
        return TwilsockFrame.id(frameSpace, number)
    }

    func reply(to id: String, code: Int = 200, errorCode: Int? = nil, _ description: String? = nil) {
        outbox.add(.frame(replyFrame(to: id, code: code, errorCode: errorCode, description)))
    }

    func replyFrame(
        to id: String, code: Int = 200, errorCode: Int? = nil, _ description: String? = nil,
        payload: [UInt8] = [], fields: (inout JSONWriter) -> Void = { _ in }
    ) -> [UInt8] {
        TwilsockFrame.make(
            method: "reply", id: id, payloadType: payload.isEmpty ? nil : "application/json", payload: payload
        ) { writer in
            Self.status(code, errorCode, description, &writer)
            fields(&writer)
        }
    }

    private static func status(
        _ code: Int, _ errorCode: Int?, _ description: String?, _ writer: inout JSONWriter
    ) {
        writer.object("status") { writer in
            writer.member("code", code)
            writer.member("status", TwilioAnswer.words(for: code))
            if let errorCode { writer.member("errorCode", errorCode) }
            if let description { writer.member("description", description) }
        }
    }

    /// Tells the client to go, and why; the socket is closed a little later if it does not.
    func close(code: Int, errorCode: Int? = nil, _ why: String, backoff: Duration? = nil) {
        let isFirst = state.withLock { state in
            defer { state.closing = min(state.closing ?? .never, Timestamp.now + Self.patience.close) }
            return state.session == nil || state.closing == nil
        }
        guard isFirst else { return }
        let payload = backoff.map { Self.backoffPolicy($0) } ?? []
        outbox.add(
            .frame(
                TwilsockFrame.make(
                    method: "close", id: nextID(), payloadType: payload.isEmpty ? nil : "application/json",
                    payload: payload
                ) { Self.status(code, errorCode, why, &$0) }))
    }

    static func backoffPolicy(_ wait: Duration) -> [UInt8] {
        let policy: JSON = [
            "backoff_policy": [
                "reconnect_min_ms": .int(wait.milliseconds), "reconnect_max_ms": .int(wait.milliseconds * 4),
            ]
        ]
        return policy.bytes()
    }

    /// What is due at this time; answers when to look again.
    func tick(at now: Timestamp) -> Timestamp {
        enum Due { case nothing, cut, expired, warning, ping }
        let interval = door.settings.pingInterval
        let (due, next): (Due, Timestamp) = state.withLock { state in
            if let closing = state.closing {
                return closing <= now ? (.cut, .never) : (.nothing, closing)
            }
            guard let session = state.session else { return (.nothing, .never) }
            if session.claims.expires <= now { return (.expired, .never) }
            // Three pings without any answer: nobody is there.
            if now - state.heard > interval * 3 + .seconds(5) { return (.cut, .never) }
            if let warnAt = session.warnAt, warnAt <= now {
                state.session?.warnAt = nil
                return (session.wantsUpdates ? .warning : .nothing, now)
            }
            if state.nextPing <= now {
                state.nextPing = now + interval
                return (.ping, now)
            }
            return (.nothing, min(session.claims.expires, session.warnAt ?? .never, state.nextPing))
        }
        switch due {
        case .nothing: break
        case .cut: socket.kill()
        case .expired: close(code: 410, errorCode: 51207, "Token expired")
        case .warning: warn(at: now)
        case .ping: outbox.add(.frame(TwilsockFrame.make(method: "ping", id: nextID())))
        }
        return next
    }

    func warn(at now: Timestamp) {
        guard let expires = state.withLock({ $0.session?.claims.expires }) else { return }
        let left = (expires - now).milliseconds
        outbox.add(
            .frame(
                TwilsockFrame.make(method: "client_update", id: nextID()) { writer in
                    writer.member("client_update_type", "token_about_to_expire")
                    writer.member(
                        "client_update_message", "Your token is about to expire. Time left: \(left) ms")
                }))
    }

    private func leave() {
        guard identity != "" else { return }
        door.hall.take { world in
            let identity = identity
            return { audience in
                audience.leave(self)
                guard audience.listeners(of: identity).isEmpty else { return }
                // Told with the next change: the writer cannot wait for itself.
                self.door.hall.take { world in
                    world.setOnline(false, identity, at: .now)
                    return nil
                }
            }
        }
    }
}
