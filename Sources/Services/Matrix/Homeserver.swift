internal import Chat
internal import HTTP
internal import JSON

/// A request to a homeserver. Parts of paths that come from elsewhere are encoded by `path`.
struct MatrixRequest: Sendable {
    var method: String
    var path: String
    var query: [(String, String)] = []
    var body: [UInt8]?
    var contentType = "application/json"
    var timeout: Duration?
    /// Bytes of the answer.
    var maximumAnswer = 10 << 20

    static func get(_ parts: String..., query: [(String, String)] = []) -> MatrixRequest {
        MatrixRequest(method: "GET", path: path(parts), query: query)
    }

    static func put(_ parts: String..., body: JSON) -> MatrixRequest {
        MatrixRequest(method: "PUT", path: path(parts), body: body.bytes())
    }

    static func post(_ parts: String..., body: JSON = [:]) -> MatrixRequest {
        MatrixRequest(method: "POST", path: path(parts), body: body.bytes())
    }

    /// Below `/_matrix`; each part is encoded, as ids may have any letter in them.
    static func path(_ parts: [String]) -> String {
        "/_matrix/client/v3/" + parts.map(\.percentEncoded).joined(separator: "/")
    }

    var target: String {
        query.isEmpty
            ? path
            : path + "?"
                + query.map { $0.0.percentEncoded + "=" + $0.1.percentEncoded }.joined(separator: "&")
    }
}

/// Where a homeserver is, and how it is asked.
actor Homeserver {
    nonisolated let name: String
    nonisolated let http: HTTPClient
    nonisolated let timing: MatrixTiming
    private var base: String?

    /// A URL, or the name of a server that says itself where it is.
    init(_ name: String, http: HTTPClient, timing: MatrixTiming) {
        self.name = name
        self.http = http
        self.timing = timing
        if name.contains("://") { base = Self.trimmed(name) }
    }

    /// Sends one request, with the token if there is one. An answer with an error is an answer, too, if it is Matrix's.
    func send(_ request: MatrixRequest, token: String?) async throws(MatrixFailure) -> MatrixAnswer {
        let base = try await address()
        var headers: [(String, String)] = []
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        if request.body != nil { headers.append(("Content-Type", request.contentType)) }
        let answer: IncomingAnswer
        do throws(HTTPError) {
            answer = try await http.send(
                OutgoingRequest(
                    method: request.method, url: base + request.target, headers: headers,
                    body: request.body, timeout: request.timeout ?? timing.request,
                    maximumAnswer: request.maximumAnswer))
        } catch {
            throw .silent(error.text, mayHaveArrived: error.mayHaveArrived)
        }
        if let foreign = ForeignAnswer(answer, from: base) {
            throw .foreign(foreign.description, mayHaveArrived: answer.status < 300)
        }
        return MatrixAnswer(answer)
    }

    /// The URL that all paths are below. Source: client-server specification, "Server discovery".
    private func address() async throws(MatrixFailure) -> String {
        if let base { return base }
        let answer: IncomingAnswer
        do throws(HTTPError) {
            answer = try await http.send(
                OutgoingRequest(
                    url: "https://\(name)/.well-known/matrix/client", timeout: timing.request,
                    maximumAnswer: 1 << 16))
        } catch {
            throw .silent(error.text, mayHaveArrived: false)
        }
        let found = (try? JSON(parsing: answer.body))?["m.homeserver"]?["base_url"]?.string
        switch answer.status {
        case 200:
            guard let found, found.hasPrefix("https://") || found.hasPrefix("http://") else {
                throw .silent(
                    "\(name): /.well-known/matrix/client names no homeserver - write its URL under \"homeserver\"",
                    mayHaveArrived: false)
            }
            base = Self.trimmed(found)
        case 404: base = "https://\(name)"
        default:
            throw .silent(
                "\(name): /.well-known/matrix/client answered \(answer.status)", mayHaveArrived: false)
        }
        return base ?? name
    }

    private static func trimmed(_ url: String) -> String {
        var url = url
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }
}
