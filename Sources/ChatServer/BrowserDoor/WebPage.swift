internal import HTTPServer

/// The page, its style, its script and its icon, which the program carries in itself.
enum WebPage {
    /// Nothing from elsewhere, nothing inline, no frames: whatever people write stays text.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

    /// All that the page is made of, by its path.
    private static let files: [String: (type: String, body: [UInt8])] = [
        "/": ("text/html", PackageResources.page_html),
        "/style.css": ("text/css", PackageResources.style_css),
        "/icon.svg": ("image/svg+xml", PackageResources.icon_svg),
        "/words.js": ("text/javascript", PackageResources.words_js),
        "/line.js": ("text/javascript", PackageResources.line_js),
        "/hear.js": ("text/javascript", PackageResources.hear_js),
        "/door.js": ("text/javascript", PackageResources.door_js),
        "/channels.js": ("text/javascript", PackageResources.channels_js),
        "/people.js": ("text/javascript", PackageResources.people_js),
        "/messages.js": ("text/javascript", PackageResources.messages_js),
        "/keys.js": ("text/javascript", PackageResources.keys_js),
        "/writing.js": ("text/javascript", PackageResources.writing_js),
        "/unsent.js": ("text/javascript", PackageResources.unsent_js),
        "/menus.js": ("text/javascript", PackageResources.menus_js),
        "/begin.js": ("text/javascript", PackageResources.begin_js),
    ]

    static func has(_ path: String) -> Bool { files[path] != nil }

    static func answer(_ request: HTTPRequest) -> HTTPReply {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .text(405, "use GET\n", headers: [("Allow", "GET, HEAD")])
        }
        let (type, body) = files[request.path] ?? ("text/html", PackageResources.page_html)
        return .answer(
            status: 200,
            headers: [
                ("Content-Type", "\(type); charset=utf-8"), ("Content-Security-Policy", policy),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-cache"),
            ], body: body)
    }
}
