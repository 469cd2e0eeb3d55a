internal import Chat
internal import HTTPServer
internal import JSON

/// What a client says of itself when it opens its socket: in the query, in headers or where a subprotocol goes.
struct SendbirdLogin: Sendable {
    var application = ""
    var identity = ""
    var token: String?
    var key: String?
    var takesGzip = false
    /// Wants to be told when its session ends.
    var hearsEnd = false
    /// Another site's page opened the socket.
    var isOfPage = false
    let remote: String

    init(_ request: HTTPRequest) {
        remote = request.remote
        for (name, value) in request.query {
            switch name {
            case "ai": application = value
            case "user_id": identity = value
            case "access_token": token = value.isEmpty ? nil : value
            case "key": key = value.isEmpty ? nil : value
            case "pmce": takesGzip = value == "1"
            case "expiring_session": hearsEnd = value == "1"
            default: break
            }
        }
        token = Self.decoded(request.header("SENDBIRD-WS-TOKEN")) ?? token
        key = Self.decoded(request.header("SENDBIRD-WS-AUTH")) ?? key
        for offer in request.subprotocols {
            guard let text = Self.decoded(offer), let fields = try? JSON(parsing: text) else { continue }
            token = fields["token"]?.string ?? token
            key = fields["auth"]?.string ?? key
        }
        isOfPage = Self.isOfPage(request)
    }

    /// A page of another site may reach us through its reader's browser.
    static func isOfPage(_ request: HTTPRequest) -> Bool {
        guard let origin = request.header("Origin"), let host = request.header("Host") else { return false }
        return origin != "http://\(host)" && origin != "https://\(host)"
    }

    /// Some clients percent-encode what they put into headers; no token of ours holds a percent sign.
    private static func decoded(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return HTTPRequest(method: "GET", target: "/\(text)").segments.first
    }

    /// The session that begins with this, or why none does. Makes the user if they are new.
    func session(
        at door: SendbirdDoor, _ world: inout World, at now: Timestamp
    ) throws(SendbirdRefusal) -> SendbirdKeys.Session {
        guard application.lowercased() == door.application.lowercased() else {
            throw .init(400304, "There is no application \"\(application)\" here.")
        }
        if let key {
            let session = try door.session(of: key, world, at: now)
            return door.begin(
                session.identity, tokenEnds: session.tokenEnds, serial: session.serial,
                isProven: session.isProven, at: now)
        }
        guard !identity.isEmpty else { throw .missing("user_id") }
        let person = world.users[identity]?.person
        if let person, !person.isActive { throw .init(400300, "The user is deactivated.") }
        var ends = Timestamp.never
        if let token {
            ends = try door.keys.check(token, of: identity, person, at: now)
        } else {
            try mayComeByName(person, door, world)
        }
        do {
            let user = try world.user(identity, at: now)
            return door.begin(
                identity, tokenEnds: ends, serial: user.sessionSerial, isProven: token != nil, at: now)
        } catch {
            throw .init(error, onSocket: false)
        }
    }

    /// Whoever has no token yet may come by their name alone, where everybody may; not under a name that is kept back.
    private func mayComeByName(
        _ person: Person?, _ door: SendbirdDoor, _ world: World
    ) throws(SendbirdRefusal) {
        guard door.settings.secret == nil, !isOfPage, (person?.accessSerial ?? 0) == 0,
            (person?.sessionSerial ?? 0) == 0, world.reservation(of: identity) == nil
        else { throw .wrongToken }
        guard BrowserConnection.isName(identity) else { throw .init(400305, BrowserConnection.whatNamesAre) }
    }
}
