internal import HTTPServer

/// The page, its style, its script and its icon, which the program carries in itself.
enum WebPage {
    /// Nothing from elsewhere, nothing inline, no frames: whatever people write stays text.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

    static func answer(_ request: HTTPRequest) -> HTTPReply {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .text(405, "use GET\n", headers: [("Allow", "GET, HEAD")])
        }
        let (type, body): (String, [UInt8]) =
            switch request.path {
            case "/style.css": ("text/css", PackageResources.style_css)
            case "/unsent.js": ("text/javascript", PackageResources.unsent_js)
            case "/script.js": ("text/javascript", PackageResources.script_js)
            case "/icon.svg": ("image/svg+xml", PackageResources.icon_svg)
            default: ("text/html", PackageResources.page_html)
            }
        return .answer(
            status: 200,
            headers: [
                ("Content-Type", "\(type); charset=utf-8"), ("Content-Security-Policy", policy),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-cache"),
            ], body: body)
    }
}
