import WebSocket

extension HTTPRequest {
    /// The client asks for a WebSocket, and in a way that can be answered.
    package var wantsWebSocket: Bool { webSocketAccept != nil }

    /// The subprotocols the client offers, in its order.
    package var subprotocols: [String] {
        headers.filter { $0.name.lowercased() == "sec-websocket-protocol" }
            .flatMap { Handshake.elements($0.value) }
    }

    /// What is to be answered to the client's key; nil when this is no request for a WebSocket.
    var webSocketAccept: String? {
        guard method == "GET", asksForUpgrade, header("Sec-WebSocket-Version") == "13",
            let key = header("Sec-WebSocket-Key")
        else { return nil }
        return Handshake.accept(key: key)
    }

    /// It is meant as a request for a WebSocket, well-formed or not.
    var asksForUpgrade: Bool {
        func holds(_ name: String, _ element: String) -> Bool {
            headers.contains { field in
                field.name.lowercased() == name
                    && Handshake.elements(field.value).contains { $0.lowercased() == element }
            }
        }
        return holds("upgrade", "websocket") && holds("connection", "upgrade")
    }
}
