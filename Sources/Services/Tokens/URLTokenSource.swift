package import Chat
package import HTTP
internal import JSON

/// A server that gives tokens over HTTP.
package struct URLTokenSource: TokenSource {
    /// How to ask, and where the token is in the answer.
    package struct Settings: Sendable, Decodable {
        var url: String
        /// `GET` when not given, or `POST`.
        var method: Method?
        /// Sent beside `identity` and `device`, or in their place when they have those names.
        var fields: [String: Secret]?
        var headers: [String: Secret]?
        /// How a POST sends the fields: as `json`, when not given, or as `form`.
        var body: Body?
        /// The name of the token's field in the answer, or the way to it: `data.token`.
        var field: String?

        package enum Method: String, Sendable, Decodable { case get = "GET", post = "POST" }

        package enum Body: String, Sendable, Decodable { case json, form }

        package init(
            url: String, method: Method? = nil, fields: [String: Secret]? = nil,
            headers: [String: Secret]? = nil, body: Body? = nil, field: String? = nil
        ) {
            self.url = url
            self.method = method
            self.fields = fields
            self.headers = headers
            self.body = body
            self.field = field
        }
    }

    private let settings: Settings
    private let fields: [(name: String, value: String)]
    private let http: HTTPClient

    package init(_ settings: Settings, identity: String, device: String?, http: HTTPClient) {
        self.settings = settings
        self.http = http
        var all = ["identity": identity]
        all["device"] = device
        for (name, value) in settings.fields ?? [:] { all[name] = value.reveal() }
        fields = all.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// Without the query, which may hold secrets.
    package var place: String {
        let parts = URLParts(settings.url)
        let host = parts.host.split(separator: "@").last.map(String.init) ?? parts.host
        return host + parts.path
    }

    package func token() async throws(TokenError) -> String {
        let answer: IncomingAnswer
        do {
            answer = try await http.send(request)
        } catch {
            throw TokenError(error.kind == .badURL ? .giveUp : .again, "no token from \(place): \(error)")
        }
        guard (200..<300).contains(answer.status) else {
            // Too early, too many or broken may be otherwise next time; what was refused will be refused again.
            let mayHelp = answer.status >= 500 || [408, 425, 429].contains(answer.status)
            throw TokenError(mayHelp ? .again : .giveUp, "\(place) answered \(answer.status)")
        }
        return try token(in: answer.body)
    }

    private func token(in body: [UInt8]) throws(TokenError) -> String {
        let way = settings.field ?? "token"
        guard let json = try? JSON(parsing: body) else {
            // Some servers give nothing but the token.
            let text = String(decoding: body, as: UTF8.self).trimmed
            if settings.field == nil, text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2,
                !text.contains(" ")
            {
                return text
            }
            throw TokenError(.giveUp, "\(place) answered with what is not JSON")
        }
        var value: JSON? = json
        if json.string == nil || settings.field != nil {
            for name in way.split(separator: ".") { value = value?[String(name)] }
        }
        guard let token = value?.string, !token.isEmpty else {
            throw TokenError(.giveUp, "the answer of \(place) has no text under \"\(way)\"")
        }
        return token
    }

    private var request: OutgoingRequest {
        var headers = (settings.headers ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value.reveal()) }
        headers.append(("Accept", "application/json"))
        guard settings.method == .post else {
            let url = fields.reduce(settings.url) { $0.adding($1.name, $1.value) }
            return OutgoingRequest(url: url, headers: headers, timeout: .seconds(15), maximumAnswer: 1 << 20)
        }
        let body: [UInt8]
        if settings.body == .form {
            headers.append(("Content-Type", "application/x-www-form-urlencoded"))
            let pairs = fields.map { $0.name.percentEncoded + "=" + $0.value.percentEncoded }
            body = Array(pairs.joined(separator: "&").utf8)
        } else {
            headers.append(("Content-Type", "application/json"))
            var writer = JSONWriter()
            writer.object { writer in
                for (name, value) in fields { writer.member(name, value) }
            }
            body = writer.bytes
        }
        return OutgoingRequest(
            method: "POST", url: settings.url, headers: headers, body: body, timeout: .seconds(15),
            maximumAnswer: 1 << 20)
    }
}
