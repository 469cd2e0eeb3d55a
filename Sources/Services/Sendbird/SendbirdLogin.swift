internal import Chat
internal import JSON

/// The server's first word: who we are, and how it wants to be treated.
struct SendbirdLogin: Sendable {
    var user: String?
    /// Lets us in over HTTP, and again after a lost connection.
    var key: String?
    /// When that key ends, counted from when it was given; nil when it does not say.
    var life: Duration?
    var pingInterval = Duration.seconds(15)
    var pongTimeout = Duration.seconds(5)
    var pauses = SendbirdPauses()
    /// In bytes.
    var largestFile: Int64?
    var marksDeliveryInSuperGroups = true
    /// The server's clock.
    var at: Timestamp?

    init(_ node: JSONNode) {
        user = node["user_id"]?.words
        key = (node["new_key"] ?? node["key"])?.words ?? node["key"]?.words
        at = node["login_ts"]?.number.map { Timestamp(milliseconds: $0) }
        life = Self.life(until: node["expires_at"], from: at)
        if let seconds = node["ping_interval"]?.double, seconds > 0 { pingInterval = .seconds(seconds) }
        if let seconds = node["pong_timeout"]?.double, seconds > 0 { pongTimeout = .seconds(seconds) }
        if let reconnect = node["reconnect"] { pauses = SendbirdPauses(reconnect) }
        largestFile = node["file_upload_size_limit"]?.number.flatMap {
            $0 > 0 && $0 < 1 << 20 ? $0 << 20 : nil
        }
        marksDeliveryInSuperGroups = node["disable_supergroup_mack"]?.isOn != true
    }

    /// How long until a moment that is told in seconds, or in milliseconds by some; both by the server's clock.
    static func life(until end: JSONNode?, from now: Timestamp?) -> Duration? {
        guard let end = end?.number, end > 0, let now else { return nil }
        let milliseconds = end < 100_000_000_000 ? end * 1000 : end
        let life = Timestamp(milliseconds: milliseconds) - now
        return life > .zero ? life : nil
    }
}

/// How long to wait between attempts to connect, as the server wants it; with jitter, so that many clients do not come
/// back at the same moment.
struct SendbirdPauses: Sendable, Equatable {
    var interval = Duration.seconds(2)
    var most = Duration.seconds(20)
    var factor = 2.0

    init() {}

    init(_ node: JSONNode) {
        if let seconds = node["interval"]?.double, seconds > 0 { interval = .seconds(min(seconds, 3600)) }
        if let seconds = node["max_interval"]?.double, seconds > 0 { most = .seconds(min(seconds, 3600)) }
        if let times = node["mul"]?.double, times >= 1 { factor = min(times, 10) }
        most = max(most, interval)
    }

    /// The pause before attempt `number`, of which the first is 1; `random` is between 0 and 1.
    func pause(before number: Int, random: Double) -> Duration {
        var pause = interval
        for _ in 0..<max(number - 1, 0) where pause < most { pause = pause * factor }
        return min(pause, most) * (0.8 + 0.4 * random)
    }
}
