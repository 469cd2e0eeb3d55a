internal import Chat
internal import WebSocket

/// The way in for Twilio's clients: one socket each, Twilsock frames on it.
final class TwilioDoor: Sendable {
    let hall: Hall
    let issuer: TokenIssuer
    let settings: ServerSettings
    let faults: Faults
    let rates: WriteRates
    let log: Log
    private let connections = Locked<[ObjectIdentifier: TwilioConnection]>([:])

    init(
        hall: Hall, issuer: TokenIssuer, settings: ServerSettings, faults: Faults, rates: WriteRates, log: Log
    ) {
        self.hall = hall
        self.issuer = issuer
        self.settings = settings
        self.faults = faults
        self.rates = rates
        self.log = log
    }

    /// Serves one client until it goes.
    func serve(_ socket: WebSocket, mediaBase: String) async {
        let connection = TwilioConnection(socket, door: self, mediaBase: mediaBase)
        connections.withLock { $0[ObjectIdentifier(connection)] = connection }
        await connection.run()
        connections.withLock { $0[ObjectIdentifier(connection)] = nil }
    }

    /// The connections of one identity, or all.
    func connections(of identity: String?) -> [TwilioConnection] {
        connections.withLock { Array($0.values) }.filter { identity == nil || $0.identity == identity }
    }

    /// Pings, warnings and expiry of all connections, until cancelled.
    func keepTime() async {
        while !Task.isCancelled {
            let now = Timestamp.now
            var due = now + .seconds(1)
            for connection in connections(of: nil) { due = min(due, connection.tick(at: now)) }
            try? await Task.sleep(for: max(.milliseconds(5), due - now))
        }
    }
}
