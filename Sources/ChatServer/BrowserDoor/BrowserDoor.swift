internal import Chat
internal import HTTPServer

/// The way in for people with a browser: one WebSocket each, with small JSON objects as text.
struct BrowserDoor: Sendable {
    let hall: Hall
    let settings: ServerSettings
    let rates: WriteRates
    let log: Log

    func answer(_ request: HTTPRequest) -> HTTPReply {
        .text(404, "not yet\n")
    }
}
