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
        var fields: [String: HiddenText]?
        var headers: [String: HiddenText]?
        /// How a POST sends the fields: as `json`, when not given, or as `form`.
        var body: Body?
        /// The name of the token's field in the answer, or the way to it: `data.token`.
        var field: String?

        package enum Method: String, Sendable, Decodable, CaseIterable { case get = "GET", post = "POST" }

        package enum Body: String, Sendable, Decodable, CaseIterable { case json, form }

        package init(
            url: String, method: Method? = nil, fields: [String: HiddenText]? = nil,
            headers: [String: HiddenText]? = nil, body: Body? = nil, field: String? = nil
        ) {
            self.url = url
            self.method = method
            self.fields = fields
            self.headers = headers
            self.body = body
            self.field = field
        }

        /// What is wrong with them, all of it.
        var findings: [SettingsFinding] {
            var findings: [SettingsFinding] = []
            if let scheme = ["http://", "https://"].first(where: { url.lowercased().hasPrefix($0) }) {
                let rest = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
                if rest.isEmpty || rest.contains(" ") {
                    findings.append(
                        SettingsFinding(["url"], "names no host", hint: "write https://HOST/PATH"))
                } else if let at = rest.lastIndex(of: "@"), rest[..<at].contains(":") {
                    findings.append(
                        SettingsFinding(
                            ["url"], "has a password in it", hint: Self.wayOut, isAboutSecret: true))
                }
            } else {
                findings.append(
                    SettingsFinding(
                        ["url"], "does not begin with http:// or https://", hint: "write https://HOST/PATH"))
            }
            for (key, texts) in [("fields", fields ?? [:]), ("headers", headers ?? [:])] {
                for name in texts.keys.sorted() where HiddenText.isSecret(name) {
                    findings.append(
                        SettingsFinding(
                            [key, name], "is a secret by its name and must not stand here",
                            hint: Self.wayOut, isAboutSecret: true))
                }
            }
            for (name, text) in (headers ?? [:]).sorted(by: { $0.key < $1.key })
            where name.isEmpty || name.contains(where: { " :\r\n\t".contains($0) })
                || text.reveal().contains(where: \.isNewline)
            {
                findings.append(
                    SettingsFinding(
                        ["headers", name], "cannot be a header",
                        hint: "a name has no spaces or colons, and a value is one line"))
            }
            return findings
        }

        private static let wayOut =
            "put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}"
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
            throw TokenError(error.kind == .badURL ? .act : .again, "no token from \(place): \(error)")
        }
        guard (200..<300).contains(answer.status) else { throw refusal(answer) }
        return try token(in: answer.body)
    }

    /// A server that is wrong for a while must cost nobody an account, so all of these are asked again.
    private func refusal(_ answer: IncomingAnswer) -> TokenError {
        let words = "\(place) answered \(answer.status)"
        return switch answer.status {
        case 300..<400:
            TokenError(.act, "\(words), and is not followed elsewhere - write where it leads to into \"url\"")
        case 401, 403: TokenError(.act, "\(words) - do \"headers\" and \"fields\" have what it wants to see?")
        case 404, 410: TokenError(.act, "\(words) - is \"url\" right?")
        case 405: TokenError(.act, "\(words) - is \"method\" right?")
        case 408, 425, 429, 500...: TokenError(.again, words)
        default: TokenError(.act, words)
        }
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
            throw TokenError(.act, "\(place) answered with what is not JSON - is \"url\" right?")
        }
        var value: JSON? = json
        if json.string == nil || settings.field != nil {
            for name in way.split(separator: ".") { value = value?[String(name)] }
        }
        guard let token = value?.string, !token.isEmpty else {
            throw TokenError(
                .act, "the answer of \(place) has no text under \"\(way)\" - say with \"field\" where it is")
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
