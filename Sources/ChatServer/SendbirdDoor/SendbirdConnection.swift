internal import Chat
internal import Gzip
internal import JSON
internal import WebSocket

/// One client's socket, from the first frame to the last.
final class SendbirdConnection: Connected, Sendable {
    let door: SendbirdDoor
    let socket: WebSocket
    let outbox = Outbox()
    /// Where files are for this client.
    let base: String
    let state: Locked<State>

    struct State: Sendable {
        /// Nil until it was let in.
        var session: SendbirdKeys.Session?
        var takesGzip = false
        var hearsEnd = false
        /// The end of this session was announced.
        var isWarned = false
        var heard: Timestamp
        /// Where the user is a member, as far as this client has been told.
        var joined: Set<SID> = []
        /// Open channels that this client has entered, as far as it has been told.
        var entered: Set<SID> = []
        /// The same as it stands in the world.
        var present: Set<SID> = []
        /// Events of what this client did, with the number that it gave the command.
        var awaited: [FeedID: [Int64: JSON]] = [:]
        /// A dead line, for tests: nothing comes in or goes out.
        var isSilent = false
        /// An event held back to come out of order, for tests.
        var heldBack: [UInt8]?
    }

    init(_ socket: WebSocket, door: SendbirdDoor, base: String) {
        self.socket = socket
        self.door = door
        self.base = base
        state = Locked(State(heard: .now))
    }

    var identity: String { state.withLock { $0.session?.identity ?? "" } }

    /// Until the socket is over.
    func run(_ login: SendbirdLogin) async {
        async let sending: Void = send()
        begin(login)
        await read()
        outbox.close()
        await sending
        leave()
    }

    private func read() async {
        while let messages = try? await socket.receive() {
            state.withLock { $0.heard = .now }
            for message in messages {
                guard case .text(let text) = message else {
                    refuse(nil, SendbirdRefusal(400403, "Commands are text."))
                    continue
                }
                guard !isDeaf else { continue }
                for command in SendbirdFrame.read(text) {
                    guard let (code, fields) = command else {
                        refuse(nil, SendbirdRefusal(400403, "That is no command."))
                        continue
                    }
                    take(code, fields)
                }
            }
            await outbox.room()
            await door.hall.ready()
        }
    }

    private var isDeaf: Bool {
        if state.withLock({ $0.isSilent }) { return true }
        guard door.faults.take(.silent, for: identity) else { return false }
        state.withLock { $0.isSilent = true }
        return true
    }

    private func send() async {
        while let items = await outbox.take() {
            // In slices, so that the socket holds no more than it is meant to.
            for start in stride(from: 0, to: items.count, by: 64) {
                let frames = items[start..<min(start + 64, items.count)].compactMap { item in
                    if case .frame(let text) = item { frame(text) } else { nil }
                }
                guard !state.withLock({ $0.isSilent }) else { continue }
                guard (try? await socket.send(frames)) != nil else { return }
            }
        }
        socket.close()
    }

    private func frame(_ text: [UInt8]) -> SocketMessage {
        var text = text
        if door.faults.take(.glued, for: identity) { text += SendbirdFrame.make("NOOP") { _ in } }
        if door.faults.take(.unended, for: identity) { text.removeLast() }
        guard state.withLock({ $0.takesGzip }),
            text.count >= door.settings.sendbird.gzipFrom || door.faults.take(.gzip, for: identity)
        else { return .text(text) }
        return .binary(Gzip.compress(text))
    }

    /// Sends one command.
    func say(_ code: String, _ write: (inout JSONWriter) -> Void) { say(SendbirdFrame.make(code, write)) }

    func say(_ text: [UInt8]) {
        guard !text.isEmpty else { return }
        guard outbox.add(.frame(text)) else {
            door.log.warning("chat server: \(identity) does not read what it is sent; connection cut")
            return socket.kill()
        }
    }

    /// The answer to a command that was not done.
    func refuse(_ request: JSON?, _ refusal: SendbirdRefusal, in channel: String? = nil) {
        say("EROR") { writer in
            if let request { writer.member("req_id", request) }
            writer.member("code", refusal.code)
            writer.member("message", refusal.message)
            writer.member("error", true)
            writer.member("ts", Timestamp.now.milliseconds)
            guard let channel else { return }
            writer.member("channel_url", channel)
            let known = door.hall.look { world in world.channelURLs[channel].flatMap { world.channels[$0] } }
            if let known { writer.member("channel_type", SendbirdShapes.type(known.profile)) }
        }
    }

    /// What is due at this time; answers when to look again.
    func tick(at now: Timestamp) -> Timestamp {
        enum Due { case nothing, cut, warning, ended }
        let sendbird = door.settings.sendbird
        // Twice what a client may be silent for.
        let patience = Duration.seconds((sendbird.pingInterval + sendbird.pongTimeout) * 2)
        let (due, session, next): (Due, SendbirdKeys.Session?, Timestamp) = state.withLock { state in
            guard let session = state.session else { return (.nothing, nil, .never) }
            if now - state.heard > patience { return (.cut, session, .never) }
            if session.ends <= now { return (.ended, session, .never) }
            // A short session must not be warned of from its begin on.
            let life = session.ends - session.issued
            let warnAt = session.ends - min(sendbird.sessionWarning, life / 4)
            if !state.isWarned, warnAt <= now {
                state.isWarned = true
                return (state.hearsEnd ? .warning : .nothing, session, session.ends)
            }
            return (.nothing, session, min(state.isWarned ? .never : warnAt, session.ends))
        }
        switch due {
        case .nothing: break
        case .cut: socket.kill()
        case .ended: socket.close()
        case .warning:
            if let session { warn(session.tokenEnds <= session.ends ? 400302 : 400309) }
        }
        return next
    }

    /// Says that the session is about to end; a negative number of seconds says that it is over for good.
    func warn(_ reason: Int, in seconds: Int64? = nil) {
        let left = state.withLock { $0.session?.ends }.map { max(0, ($0 - .now).milliseconds / 1000) }
        say("EXPR") { writer in
            writer.member("expires_in", seconds ?? left ?? 0)
            writer.member("reason", reason)
            writer.member(
                "message", reason == 400309 ? "The session key expires." : "The token is not good any more.")
        }
    }

    private func leave() {
        let identity = identity
        guard identity != "" else { return }
        door.hall.take { world in
            self.leaveAll(&world)
            return { audience in
                audience.leave(self)
                guard audience.listeners(of: identity).isEmpty else { return }
                // Told with the next change: the writer cannot wait for itself.
                self.door.hall.take { world in
                    world.setOnline(false, identity, at: .now)
                    try? world.editTraits(of: identity, at: .now) { $0.lastSeen = .now }
                    return nil
                }
            }
        }
    }
}
