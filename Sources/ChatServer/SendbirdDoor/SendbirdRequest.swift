internal import Chat
internal import HTTPServer
internal import JSON

/// A request over HTTP, with who asks.
struct SendbirdRequest: Sendable {
    let method: String
    /// Behind `/v3`.
    let path: [String]
    let query: [(name: String, value: String)]
    let fields: JSON
    let base: String
    /// A user, or the service itself for whoever has its token.
    var actor: String

    var isService: Bool { actor == World.service }

    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Some clients write their language's word for it.
    func flag(_ name: String) -> Bool? { parameter(name).map { $0.lowercased() == "true" || $0 == "1" } }

    /// A whole number; what is none is refused, not guessed.
    func number(_ name: String) throws(SendbirdRefusal) -> Int64? {
        guard let text = parameter(name), !text.isEmpty else { return nil }
        guard let number = Int64(text) else { throw .init(400101, "\"\(name)\" must be a number.") }
        return number
    }

    func limit(_ name: String = "limit", usual: Int = 10, most: Int = 100) throws(SendbirdRefusal) -> Int {
        guard let limit = try number(name) else { return usual }
        guard limit >= 0 else { throw .init(400106, "\"\(name)\" must not be negative.") }
        guard (0...Int64(most)).contains(limit) else {
            throw .init(400111, "\"\(name)\" must be at most \(most).")
        }
        return Int(limit)
    }

    func text(_ name: String) -> String? { fields[name]?.string }

    func need(_ name: String) throws(SendbirdRefusal) -> String {
        guard let text = text(name), !text.isEmpty else { throw .missing(name) }
        return text
    }

    func names(_ name: String) -> [String]? { fields[name]?.array?.compactMap(\.string) }

    /// Users, by their names or as objects that hold them.
    func people() -> [String]? {
        if let names = names("user_ids") { return names }
        return fields["users"]?.array?.compactMap { $0.string ?? $0["user_id"]?.string }
    }

    /// The user that a request is about: clients may only act for themselves.
    func user(_ name: String = "user_id") throws(SendbirdRefusal) -> String {
        guard isService else { return actor }
        return try need(name)
    }
}

/// What a request is answered with, and what else it leads to.
struct SendbirdAnswer: Sendable {
    var body: [UInt8]
    var typing: [(Typing, hearers: [String])] = []
    /// Sessions of these users end, and their connections are told for which reason.
    var revoked: [(identity: String, reason: Int)] = []

    static let nothing = SendbirdAnswer { _ in }

    init(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.object { write(&$0) }
        body = writer.bytes
    }
}

/// A page of a list: what to begin with goes to the client as a token and comes back.
struct SendbirdPage {
    let items: Range<Int>
    let next: String

    /// From the place in the token; a token that is none begins nowhere.
    init(_ request: SendbirdRequest, count: Int, usual: Int = 10) throws(SendbirdRefusal) {
        let limit = max(1, try request.limit(usual: usual))
        var start = 0
        if let token = request.parameter("token"), !token.isEmpty {
            guard let place = Self.place(token) else { throw .init(400109, "The page token is not valid.") }
            start = min(place, count)
        }
        let end = min(start + limit, count)
        items = start..<end
        next = end < count ? Self.token(end) : ""
    }

    static func token(_ place: Int) -> String { "p\(String(place, radix: 36))" }

    private static func place(_ token: String) -> Int? {
        guard token.hasPrefix("p"), let place = Int(token.dropFirst(), radix: 36), place >= 0 else {
            return nil
        }
        return place
    }
}
