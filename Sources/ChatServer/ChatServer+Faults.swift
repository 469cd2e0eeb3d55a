internal import Chat
internal import WebSocket

/// Making things go wrong, for tests.
extension ChatServer {
    /// Something that goes wrong as soon as there is an occasion.
    package func add(_ fault: Fault) { faultList.add(fault) }

    package func clearFaults() { faultList.clear() }

    /// Cuts the sockets of one identity, or all, at once and without a word.
    package func drop(_ identity: String? = nil) {
        for connection in twilio.connections.of(identity) { connection.socket.kill() }
        for connection in sendbird.connections.of(identity) { connection.socket.kill() }
    }

    /// Sendbird's sessions in use are over; `reason` is the code that clients are told, 400309 for a key that ends, 400302
    /// for a token that is no good any more. Connections stay.
    package func endSessions(of identity: String? = nil, reason: Int = 400309, in seconds: Int64 = 0) {
        sendbird.endSessions(of: identity)
        for connection in sendbird.connections.of(identity) { connection.warn(reason, in: seconds) }
    }

    /// Tells one Sendbird client, or all, to come back later, and hangs up.
    package func sayBusy(_ identity: String? = nil, retryAfter seconds: Int) {
        for connection in sendbird.connections.of(identity) { connection.sayBusy(seconds) }
    }

    /// Sends a `close` with this code, and with a back-off if one is given.
    package func close(
        _ code: Int, errorCode: Int? = nil, for identity: String? = nil, backoff: Duration? = nil
    ) {
        for connection in twilio.connections.of(identity) {
            connection.close(
                code: code, errorCode: errorCode ?? (code == 410 ? 51207 : nil), "closed for a test",
                backoff: backoff)
        }
    }

    /// The tokens in use end now.
    package func expire(_ identity: String? = nil) {
        close(410, for: identity)
    }

    /// Says now that tokens are about to expire.
    package func warn(_ identity: String? = nil) {
        for connection in twilio.connections.of(identity) { connection.warn(at: .now) }
    }
}
