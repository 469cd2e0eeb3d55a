internal import Chat
internal import JSON

/// A log-in at a homeserver: who we are there, as which device, and the tokens of it.
struct MatrixSession: Equatable, Sendable {
    var user: String
    var device: String?
    var access: String
    var refresh: String?
    /// When the access token ends, by our own clock; nil when nobody said.
    var expires: Timestamp?
    /// When we got it.
    var received: Timestamp
    /// The refresh token before this one: good until the new tokens were used.
    var previous: String?

    /// When it is renewed, long before its end.
    var refreshAfter: Timestamp {
        guard let expires, refresh != nil else { return .never }
        return received + (expires - received) * 0.8
    }

    /// For logs: the last characters only.
    var name: String { "token(…\(access.suffix(4)))" }
}

/// What is kept of a log-in from one run to the next.
struct KeptLogin: Equatable, Sendable {
    /// Nil once we were logged out; the device stays.
    var session: MatrixSession?
    var device: String
    /// A digest of the tokens that were configured, so that others in their place are noticed.
    var seed: String?

    init(session: MatrixSession?, device: String, seed: String?) {
        self.session = session
        self.device = device
        self.seed = seed
    }

    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes), let device = json["device"]?.string else { return nil }
        self.device = device
        seed = json["seed"]?.string
        guard let user = json["user"]?.string, let access = json["access_token"]?.string else { return }
        session = MatrixSession(
            user: user, device: json["session_device"]?.string, access: access,
            refresh: json["refresh_token"]?.string,
            expires: json["expires"]?.int.map { Timestamp(milliseconds: $0) },
            received: Timestamp(milliseconds: json["received"]?.int ?? 0),
            previous: json["previous_refresh_token"]?.string)
    }

    var bytes: [UInt8] {
        var object: JSONObject = ["device": .string(device)]
        if let seed { object["seed"] = .string(seed) }
        if let session {
            object["user"] = .string(session.user)
            if let device = session.device { object["session_device"] = .string(device) }
            object["access_token"] = .string(session.access)
            if let refresh = session.refresh { object["refresh_token"] = .string(refresh) }
            if let expires = session.expires { object["expires"] = .int(expires.milliseconds) }
            object["received"] = .int(session.received.milliseconds)
            if let previous = session.previous { object["previous_refresh_token"] = .string(previous) }
        }
        return JSON.object(object).bytes() + [0x0A]
    }
}
