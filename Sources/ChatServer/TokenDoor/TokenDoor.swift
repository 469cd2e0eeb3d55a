internal import Chat
internal import Crypto
internal import HTTPServer
internal import JSON

/// Gives access tokens: `GET` or `POST /token` with `identity`, and `device` and `ttl` in seconds if wanted.
struct TokenDoor: Sendable {
    let issuer: TokenIssuer
    let settings: ServerSettings
    let faults: Faults
    let refusals: Refusals

    func answer(_ request: HTTPRequest) -> HTTPReply {
        guard request.method == "GET" || request.method == "POST" else {
            return .text(405, "use GET or POST\n", headers: [("Allow", "GET, POST")])
        }
        if let name = request.unreadable {
            return Self.refusal(400, "\(name) is no UTF-8: percent-encode text as UTF-8")
        }
        guard let fields = fields(of: request) else {
            return Self.refusal(400, "the body is neither a form nor a JSON object")
        }
        guard isTrusted(request, fields) else {
            refusals.note(request.remote, "/token", "the secret is missing or wrong")
            return Self.refusal(
                401,
                "the secret is missing or wrong: send it as \"Authorization: Bearer …\" or as field \"secret\""
            )
        }
        guard let identity = fields["identity"], !identity.isEmpty else {
            return Self.refusal(400, "identity is missing")
        }
        guard identity.unicodeScalars.count <= settings.limits.nameLength else {
            return Self.refusal(400, "identity is longer than \(settings.limits.nameLength) characters")
        }
        let longest = TokenIssuer.longestLife.milliseconds / 1000
        guard let ttl = Int64(fields["ttl"] ?? "3600"), (1...longest).contains(ttl) else {
            return Self.refusal(400, "ttl must be a number of seconds from 1 to \(longest)")
        }
        let fault = faults.take(for: identity) { fault -> Int? in
            if case .refuseToken(let status) = fault { status } else { nil }
        }
        if let fault { return Self.refusal(fault, "refused for a test") }
        let token = issuer.token(for: identity, life: .seconds(ttl), device: fields["device"], at: .now)
        let body: JSON = ["token": .string(token), "identity": .string(identity)]
        return .json(200, body.bytes(), headers: [("Cache-Control", "no-store")])
    }

    private func isTrusted(_ request: HTTPRequest, _ fields: [String: String]) -> Bool {
        guard let secret = settings.secret else { return true }
        let bearer = request.header("Authorization").flatMap { field -> String? in
            field.lowercased().hasPrefix("bearer ") ? String(field.dropFirst(7)) : nil
        }
        return constantTimeEqual(bearer ?? fields["secret"] ?? "", secret)
    }

    /// From the query and the body; nil when the body cannot be read.
    private func fields(of request: HTTPRequest) -> [String: String]? {
        var fields = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
        guard request.method == "POST", !request.body.isEmpty else { return fields }
        let type = request.header("Content-Type")?.lowercased() ?? ""
        guard type.hasPrefix("application/json") else {
            fields.merge(request.form.map { ($0.name, $0.value) }) { _, new in new }
            return fields
        }
        guard let object = (try? JSON(parsing: request.body))?.object else { return nil }
        for (name, value) in object {
            switch value {
            case .string(let text): fields[name] = text
            case .int(let number): fields[name] = String(number)
            default: return nil
            }
        }
        return fields
    }

    private static func refusal(_ status: Int, _ why: String) -> HTTPReply {
        let body: JSON = ["error": .string(why)]
        return .json(status, body.bytes(), headers: [("Cache-Control", "no-store")])
    }
}
