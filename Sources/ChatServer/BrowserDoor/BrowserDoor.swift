internal import Chat
internal import HTTPServer

/// The way in for people with a browser: one WebSocket each, small JSON objects as text.
struct BrowserDoor: Sendable {
    let hall: Hall
    let settings: ServerSettings
    let rates: WriteRates
    let issuer: TokenIssuer
    let refusals: Refusals

    func answer(_ request: HTTPRequest) -> HTTPReply {
        guard request.wantsWebSocket else {
            return .text(426, "this is a WebSocket\n", headers: [("Upgrade", "websocket")])
        }
        // Any page may open a socket to anywhere; only ours may speak here.
        guard let origin = request.header("Origin"), let host = request.header("Host"),
            origin == "http://\(host)" || origin == "https://\(host)"
        else { return .text(403, "only this server's own page may come in here\n") }
        let door = self
        return .webSocket(subprotocol: nil) { socket in
            await BrowserConnection(socket, remote: request.remote, door: door).run()
        }
    }
}
