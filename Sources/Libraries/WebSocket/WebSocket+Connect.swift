extension WebSocket {
    /// Opens a WebSocket: finds the name, connects (through the proxy the environment names, if any), checks the
    /// certificate for wss, and upgrades, all within `timeout`. Cancelling the task ends the attempt at once.
    /// Redirects are not followed. `trusting` names a file of certificates to believe instead of the system's.
    package static func connect(
        to url: String, headers: [(String, String)] = [], subprotocols: [String] = [],
        timeout: Duration = .seconds(30), limits: SocketLimits = .init(), trusting: String? = nil,
        on loop: SocketLoop
    ) async throws(WebSocketError) -> WebSocket {
        let address = try SocketAddress(url)
        let attempt = try ConnectAttempt(
            address, headers: headers, subprotocols: subprotocols, trusting: trusting, timeout: timeout)
        let opened = try await attempt.run()
        let link = SocketLink(mailbox: loop.mailbox, limits: limits, masks: true)
        let arrival = SocketArrival(
            link: link, transport: .curl(opened.connection), early: opened.early)
        guard loop.mailbox.put(.socket(arrival)) else { throw .closed }
        return WebSocket(link: link, subprotocol: opened.subprotocol, peer: address.name)
    }
}
