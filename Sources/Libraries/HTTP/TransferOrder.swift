import CCurl

/// A request on its way: what is to be sent, and who waits for the answer.
final class TransferOrder: Sendable {
    typealias Outcome = Result<IncomingAnswer, HTTPError>

    let id: UInt64
    let request: OutgoingRequest
    let trusting: String?
    /// For messages: `host:port`.
    let host: String
    private let waiter = Guarded(Waiter())

    private struct Waiter {
        var continuation: CheckedContinuation<Outcome, Never>?
        var isOver = false
    }

    init(id: UInt64, _ request: OutgoingRequest, trusting: String?) throws(HTTPError) {
        self.id = id
        self.request = request
        self.trusting = trusting
        host = try Self.host(of: request.url)
        guard Self.isToken(request.method) else {
            throw HTTPError(.badURL, "\(host): \"\(request.method)\" is not a method")
        }
        for (name, value) in request.headers {
            // Values are often secrets, so only the name is told.
            guard Self.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw HTTPError(.badURL, "\(host): the header \"\(name)\" holds a character it must not")
            }
        }
    }

    /// False when it is over before it began; then the continuation has been resumed.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let isOver = waiter.with { waiter in
            if !waiter.isOver { waiter.continuation = continuation }
            return waiter.isOver
        }
        if isOver { continuation.resume(returning: .failure(cancelled)) }
        return !isOver
    }

    /// The first outcome counts.
    func finish(_ outcome: Outcome) {
        let continuation = waiter.with { waiter in
            waiter.isOver = true
            let continuation = waiter.continuation
            waiter.continuation = nil
            return continuation
        }
        continuation?.resume(returning: outcome)
    }

    var isOver: Bool { waiter.with { $0.isOver } }

    var cancelled: HTTPError { HTTPError(.cancelled, "\(host): cancelled", mayHaveArrived: true) }

    private static func host(of url: String) throws(HTTPError) -> String {
        guard let parsed = curl_url() else { throw HTTPError(.badURL, "out of memory") }
        defer { curl_url_cleanup(parsed) }
        func part(_ part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            let flags = UInt32(CURLU_DEFAULT_PORT)
            guard curl_url_get(parsed, part, &text, flags) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK,
            let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
            let port = part(CURLUPART_PORT)
        else { throw HTTPError(.badURL, "cannot use the address of a request: it is not a valid URL") }
        guard scheme == "http" || scheme == "https" else {
            throw HTTPError(.badURL, "cannot use the address of a request: its scheme is not http or https")
        }
        return "\(host):\(port)"
    }

    /// A name as RFC 9110 section 5.6.2 allows it.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
