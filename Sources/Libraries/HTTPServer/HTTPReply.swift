package import WebSocket

/// What a handler answers.
package enum HTTPReply: Sendable {
    /// Length, date and connection fields are added.
    case answer(status: Int, headers: [(String, String)] = [], body: [UInt8] = [])
    /// Accepts the WebSocket the client asked for. `serve` runs in a task of the server's, which is cancelled when the
    /// server's grace is over; the socket is closed when it returns. A request that does not ask for a WebSocket gets
    /// 400, or 426 when it speaks another version.
    case webSocket(
        subprotocol: String?, headers: [(String, String)] = [], _ serve: @Sendable (WebSocket) async -> Void)

    package static func json(_ status: Int, _ body: [UInt8], headers: [(String, String)] = []) -> HTTPReply {
        .answer(status: status, headers: [("Content-Type", "application/json")] + headers, body: body)
    }

    package static func text(_ status: Int, _ text: String, headers: [(String, String)] = []) -> HTTPReply {
        .answer(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: Array(text.utf8))
    }
}
