internal import Chat
internal import HTTPServer
internal import JSON
internal import WebSocket

/// The way in for Sendbird's clients: one socket each, commands of four letters on it, and requests over HTTP.
struct SendbirdDoor: Sendable {
    let hall: Hall
    let issuer: TokenIssuer
    let keys: SendbirdKeys
    let settings: ServerSettings
    let faults: Faults
    let rates: WriteRates
    let shelf: MediaShelf
    let refusals: Refusals
    let log: Log
    let connections = Connections<SendbirdConnection>()
    private let ended = Locked<Ended>(Ended())

    /// Sessions that were ended before their time: all of a user, or of everybody, begun until then.
    private struct Ended {
        var everybody = Timestamp(milliseconds: 0)
        var users: [String: Timestamp] = [:]
        /// No two sessions begin at the same time.
        var last: Int64 = 0
    }

    var application: String { settings.sendbird.application ?? keys.application }

    /// A WebSocket at `/`.
    func answer(_ request: HTTPRequest, base: String) -> HTTPReply {
        let door = self
        // Clients that put their token where a subprotocol goes hang up unless they get it back.
        return .webSocket(subprotocol: request.subprotocols.first) { socket in
            let connection = SendbirdConnection(socket, door: door, base: base)
            await door.connections.hold(connection) { await connection.run(SendbirdLogin(request)) }
        }
    }

    // MARK: Sessions

    func begin(_ identity: String, tokenEnds: Timestamp, serial: Int64, isProven: Bool, at now: Timestamp)
        -> SendbirdKeys.Session
    {
        let issued = ended.withLock { ended in
            ended.last = max(ended.last + 1, now.milliseconds)
            return Timestamp(milliseconds: ended.last)
        }
        return SendbirdKeys.Session(
            identity: identity, issued: issued, ends: min(now + settings.sendbird.sessionLife, tokenEnds),
            tokenEnds: tokenEnds, serial: serial, isProven: isProven)
    }

    /// The session of a key, if it still holds.
    func session(of key: String, _ world: World, at now: Timestamp) throws(SendbirdRefusal)
        -> SendbirdKeys.Session
    {
        guard let session = keys.session(of: key) else {
            throw .init(400303, "The session key is not valid.")
        }
        guard let person = world.users[session.identity]?.person else {
            throw .init(400301, "There is no such user.")
        }
        guard person.isActive else { throw .init(400300, "The user is deactivated.") }
        guard session.serial == person.sessionSerial else { throw .init(400310, "The token was revoked.") }
        let isEnded = ended.withLock { ended in
            session.issued <= max(ended.everybody, ended.users[session.identity] ?? ended.everybody)
        }
        guard !isEnded, session.ends > now else { throw .init(400309, "The session key has expired.") }
        return session
    }

    /// All sessions begun until now are over: of one user, or of all.
    func endSessions(of identity: String?) {
        ended.withLock { ended in
            let last = Timestamp(milliseconds: ended.last)
            if let identity { ended.users[identity] = last } else { ended.everybody = last }
        }
    }
}
