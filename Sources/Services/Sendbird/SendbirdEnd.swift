internal import Chat

/// Why a connection is over: a case for each reaction.
enum SendbirdEnd: ConnectionEnd {
    /// It broke: connect again.
    case lost(String)
    /// The server has too much to do: connect again no sooner than it wants.
    case busy(String, Duration)
    /// The session's key is not good any more: connect again with the token.
    case sessionEnded(String)
    /// The token was not wanted: get another, then connect.
    case tokenRefused(String)
    /// Somebody has to act.
    case final(String)

    static func wanted(_ pause: Duration, _ why: String) -> SendbirdEnd { .busy(why, pause) }

    var reason: String {
        switch self {
        case .lost(let why), .busy(let why, _), .sessionEnded(let why), .tokenRefused(let why),
            .final(let why):
            why
        }
    }

    /// What a refused log-in asks for; `withKey` when it was tried with a session's key.
    init(_ refusal: SendbirdRefusal, withKey: Bool) {
        let reason = "log-in: \(refusal)"
        if refusal.isFinal {
            self = .final(reason)
        } else if withKey, refusal.isAboutSession {
            self = .sessionEnded(reason)
        } else if refusal.isAboutSession {
            self = .tokenRefused("\(refusal)")
        } else if let pause = refusal.pause {
            self = .busy(reason, pause)
        } else {
            self = .lost(reason)
        }
    }
}

/// What is known of our session.
struct SendbirdLoginState {
    /// Lets us in over HTTP, and again after a lost connection.
    var key: String?
    /// The token that key came from.
    var token: AccessToken?
    /// When we began to connect.
    var begun = Timestamp(milliseconds: 0)
    /// When the server's welcome came; nil before.
    var at: Timestamp?
    /// When to get another key unless the server asks for that earlier.
    var renewAt: Timestamp?
    /// Whether we came with a key rather than with a token.
    var cameWithKey = false
    var user: String?
    /// The server's clock at the welcome.
    var serverTime: Timestamp?
    var pingInterval = Duration.seconds(15)
    var pongTimeout = Duration.seconds(5)
    var pauses = SendbirdPauses()
    var largestFile: Int64?
    var marksDeliveryInSuperGroups = true

    mutating func begin(_ token: AccessToken?, at now: Timestamp) {
        if let token { self.token = token }
        cameWithKey = key != nil
        begun = now
        at = nil
        renewAt = nil
    }

    mutating func take(_ login: SendbirdLogin, at now: Timestamp) {
        at = now
        user = login.user ?? user
        pingInterval = login.pingInterval
        pongTimeout = login.pongTimeout
        pauses = login.pauses
        largestFile = login.largestFile
        marksDeliveryInSuperGroups = login.marksDeliveryInSuperGroups
        serverTime = login.at ?? now
        renew(login.key, life: login.life, at: now)
    }

    /// There is another key. It is replaced at 80 % of its life, by our own clock, if the server says nothing earlier.
    mutating func renew(_ key: String?, life: Duration?, at now: Timestamp) {
        self.key = key ?? self.key
        renewAt = life.map { now + $0 * 0.8 }
    }
}
