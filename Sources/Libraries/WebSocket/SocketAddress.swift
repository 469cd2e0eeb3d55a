import CCurl

/// Where a WebSocket URL leads.
struct SocketAddress: Equatable {
    let isSecure: Bool
    let host: String
    let port: Int
    /// What stands in the request line: path and query.
    let target: String

    /// Takes ws and wss URLs, and http and https ones as the same.
    init(_ url: String) throws(WebSocketError) {
        guard let colon = url.firstIndex(of: ":") else { throw Self.invalid("it has no scheme") }
        let scheme = url[..<colon].lowercased()
        switch scheme {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: throw Self.invalid("its scheme is not ws or wss")
        }
        guard let parsed = curl_url() else { throw WebSocketError(.exhausted, "out of memory") }
        defer { curl_url_cleanup(parsed) }
        let plain = (isSecure ? "https" : "http") + url[colon...]
        // libcurl takes any number of slashes.
        guard plain.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !url[colon...].hasPrefix(":///"),
            curl_url_set(parsed, CURLUPART_URL, plain, 0) == CURLUE_OK
        else { throw Self.invalid("it is not a valid URL") }
        func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(parsed, part, &text, flags) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
        guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil else {
            throw Self.invalid("a name or password in it would not be used")
        }
        guard let host = part(CURLUPART_HOST), !host.isEmpty,
            let portText = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)), let port = Int(portText)
        else { throw Self.invalid("it names no host") }
        self.host = host
        self.port = port
        let path = part(CURLUPART_PATH) ?? "/"
        target = path + (part(CURLUPART_QUERY).map { "?" + $0 } ?? "")
    }

    /// For messages: says nothing of the query, which may hold a token.
    var name: String { "\(host):\(port)" }

    /// The `Host` field carries the port unless it is the scheme's own.
    var hostField: String { port == (isSecure ? 443 : 80) ? host : name }

    /// What libcurl is to connect to.
    var connectURL: String { "\(isSecure ? "https" : "http")://\(host):\(port)/" }

    private static func invalid(_ why: String) -> WebSocketError {
        WebSocketError(.invalid, "cannot use the WebSocket address: \(why)")
    }
}
