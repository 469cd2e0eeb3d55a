internal import JSON

/// An HTTP request that travels through Twilsock to a service of Twilio's.
struct UpstreamRequest: Sendable {
    var method: String
    /// An absolute URL, as links have it. Its host is a name only: nothing connects to it.
    var url: String
    var headers: [(String, String)] = []
    var contentType = "application/json; charset=utf-8"
    var body: [UInt8] = []

    static func get(_ url: String) -> UpstreamRequest {
        UpstreamRequest(method: "GET", url: url)
    }

    static func post(_ url: String, _ body: JSON) -> UpstreamRequest {
        UpstreamRequest(method: "POST", url: url, body: body.bytes())
    }

    static func delete(_ url: String) -> UpstreamRequest {
        UpstreamRequest(method: "DELETE", url: url, body: Array("{}".utf8))
    }

    var isRead: Bool { method == "GET" }

    /// The members of a `message` frame. Path and query stay percent-encoded.
    func write(to writer: inout JSONWriter) {
        let parts = URLParts(url)
        writer.member("method", "message")
        writer.member("active_grant", "ip_messaging")
        writer.member("payload_type", contentType)
        writer.object("http_request") { writer in
            writer.member("host", parts.host)
            writer.member("path", parts.path)
            writer.member("method", method)
            writer.object("params") { writer in
                for (name, values) in parts.parameters {
                    if let only = values.first, values.count == 1 {
                        writer.member(name, only)
                    } else {
                        writer.array(name) { for value in values { $0.value(value) } }
                    }
                }
            }
            writer.object("headers") { writer in
                writer.member("Content-Type", contentType)
                for (name, value) in headers { writer.member(name, value) }
            }
        }
    }
}

/// What came back.
struct UpstreamAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    var isFine: Bool { (200..<300).contains(status) }

    /// The body as JSON; null when it is none.
    var json: JSON { body.isEmpty ? .null : (try? JSON(parsing: body)) ?? .null }

    /// The service's own number for what is wrong.
    var code: Int? { (json["code"]?.int).map(Int.init) }

    /// The pause that the service asks for.
    var retryAfter: Duration? {
        guard let text = headers.first(where: { $0.name.lowercased() == "retry-after" })?.value.trimmed,
            let seconds = Double(text), seconds >= 0, seconds.isFinite
        else { return nil }
        return .milliseconds(Int64(min(seconds, 3600) * 1000))
    }

    /// Why it was not done, in the service's words.
    var reason: String {
        let json = json
        let words = json["message"]?.string ?? "no reason given"
        return json["code"]?.int.map { "\(status), error \($0): \(words)" } ?? "\(status): \(words)"
    }
}

/// The pieces of an absolute URL, not decoded.
struct URLParts: Equatable {
    /// With the port if there is one.
    var host: String
    var path: String
    /// Names in the order of their first appearance.
    var parameters: [(name: String, values: [String])]

    init(_ url: String) {
        // By bytes: to look at characters takes a good part of the time that a request does.
        var rest = url.utf8[...]
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            rest = rest[colon...].dropFirst(3)
        }
        let hostEnd = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        host = String(url[rest.startIndex..<hostEnd])
        let pathEnd = rest[hostEnd...].firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = pathEnd == hostEnd ? "/" : String(url[hostEnd..<pathEnd])
        parameters = []
        guard pathEnd < rest.endIndex else { return }
        for pair in url[pathEnd...].dropFirst().split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(sides[0])
            let value = sides.count > 1 ? String(sides[1]) : ""
            if let place = parameters.firstIndex(where: { $0.name == name }) {
                parameters[place].values.append(value)
            } else {
                parameters.append((name, [value]))
            }
        }
    }

    static func == (one: URLParts, other: URLParts) -> Bool {
        one.host == other.host && one.path == other.path
            && one.parameters.elementsEqual(other.parameters) { $0 == $1 }
    }
}

extension String {
    /// With everything but letters, digits and `-._~` percent-encoded.
    var percentEncoded: String {
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// This URL with one more query parameter.
    func adding(_ name: String, _ value: String) -> String {
        self + (contains("?") ? "&" : "?") + name.percentEncoded + "=" + value.percentEncoded
    }
}
