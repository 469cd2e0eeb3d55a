internal import Chat

/// Why a connection to Twilsock is over: a case for each reaction.
enum SessionEnd: ConnectionEnd {
    /// It broke, or the server wants us elsewhere: connect again.
    case lost(String)
    /// The same, no sooner than the server wants.
    case paused(String, ClosedRange<Duration>)
    /// The token was not wanted: get another, then connect.
    case refused(TwilsockStatus)
    /// The server does not understand us: begin as a new client.
    case misunderstood(String)

    static func wanted(_ pause: Duration, _ why: String) -> SessionEnd { .paused(why, pause...pause) }

    var reason: String {
        switch self {
        case .lost(let why), .paused(let why, _), .misunderstood(let why): why
        case .refused(let status): "refused: \(status)"
        }
    }

    /// What a reply to a log-in or a new token, or a `close` from the server, asks for. Source of the codes: the
    /// behaviour of Twilio's own clients.
    init(_ status: TwilsockStatus, backoff: ClosedRange<Duration>?, in what: String) {
        let reason = "\(what): \(status)"
        switch status.code {
        case 401, 403, 410: self = .refused(status)
        case 406, 417: self = .misunderstood(reason)
        default:
            if let backoff {
                self = .paused(reason, backoff)
            } else if status.code == 429 {
                self = .paused(reason, .seconds(1) ... .seconds(2))
            } else {
                self = .lost(reason)
            }
        }
    }
}

extension TwilsockStatus {
    /// The token's time is over or has not come: another token, or another clock, helps.
    var isAboutTime: Bool {
        code == 410 || [20104, 20105, 51120, 51207, 51006].contains(errorCode ?? 0)
    }
}
