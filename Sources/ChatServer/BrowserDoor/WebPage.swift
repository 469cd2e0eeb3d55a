internal import HTTPServer

/// The page, its style and its script, which the program carries in itself.
enum WebPage {
    static func answer(_ request: HTTPRequest) -> HTTPReply {
        .text(404, "not yet\n")
    }
}
