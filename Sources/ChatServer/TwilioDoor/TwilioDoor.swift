internal import Chat
internal import WebSocket

/// The way in for Twilio's clients: one socket each, Twilsock frames on it.
struct TwilioDoor: Sendable {
    let hall: Hall
    let issuer: TokenIssuer
    let settings: ServerSettings
    let faults: Faults
    let rates: WriteRates
    let log: Log
    let connections = Connections<TwilioConnection>()

    /// Serves one client until it goes.
    func serve(_ socket: WebSocket, mediaBase: String) async {
        let connection = TwilioConnection(socket, door: self, mediaBase: mediaBase)
        await connections.hold(connection) { await connection.run() }
    }
}
