internal import Chat
internal import Crypto
internal import JSON

/// Tokens that users log in with and keys of their sessions. Each says itself what it is for and is signed, so that none
/// needs to be kept; what was taken back is told by counts that the world keeps.
struct SendbirdKeys: Sendable {
    let issuer: TokenIssuer

    /// Which application this is: the service's name as a UUID.
    var application: String {
        let digits = Array(issuer.names.service.text.dropFirst(2).uppercased())
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return parts.map { String(digits[$0]) }.joined(separator: "-")
    }

    private func sign(_ text: String) -> String {
        String(
            Hex.encode(
                HMAC.sha256(key: Array(issuer.names.secret.utf8), data: Array("sendbird \(text)".utf8))
            ).prefix(40))
    }

    // MARK: Tokens

    /// The token of a user that has no end.
    func accessToken(of person: Person) -> String? {
        person.accessSerial == 0 ? nil : sign("access \(person.accessSerial) \(person.identity)")
    }

    func sessionToken(of person: Person, until end: Timestamp) -> String {
        let text = Base64.url.encode(
            Array("\(person.sessionSerial) \(end.milliseconds) \(person.identity)".utf8))
        return "\(text).\(sign("token \(text)"))"
    }

    /// Until when a token lets `identity` in. A user of whom nothing is known yet comes in with a token of ours only.
    func check(
        _ token: String, of identity: String, _ person: Person?, at now: Timestamp
    ) throws(SendbirdRefusal) -> Timestamp {
        if let claims = try? issuer.check(token, at: now) {
            guard claims.identity == identity else { throw .wrongToken }
            return claims.expires
        }
        guard let person else { throw .wrongToken }
        if let access = accessToken(of: person), constantTimeEqual(access, token) { return .never }
        let sides = token.split(separator: ".")
        guard sides.count == 2, constantTimeEqual(String(sides[1]), sign("token \(sides[0])")),
            let bytes = Base64.url.decode(String(sides[0]))
        else { throw .wrongToken }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let serial = Int64(parts[0]), let end = Int64(parts[1]), parts[2] == identity
        else { throw .wrongToken }
        guard serial == person.sessionSerial else { throw .init(400310, "The token was revoked.") }
        guard end > now.milliseconds else { throw .init(400302, "The token has expired.") }
        return Timestamp(milliseconds: end)
    }

    // MARK: Sessions

    /// Who is in, since when and until when.
    struct Session: Sendable, Equatable {
        var identity: String
        var issued: Timestamp
        var ends: Timestamp
        /// When the token ends with which it was begun.
        var tokenEnds: Timestamp
        var serial: Int64
        /// Begun with a token, not just with a name.
        var isProven: Bool
    }

    func key(for session: Session) -> String {
        let fields: JSON = [
            "u": .string(session.identity), "i": .int(session.issued.milliseconds),
            "e": .int(session.ends.milliseconds), "t": .int(session.tokenEnds.milliseconds),
            "s": .int(session.serial), "p": .bool(session.isProven),
        ]
        let text = Base64.url.encode(fields.bytes())
        return "\(text).\(sign("key \(text)"))"
    }

    /// The session of a key; ended ones, too.
    func session(of key: String) -> Session? {
        let sides = key.split(separator: ".")
        guard sides.count == 2, constantTimeEqual(String(sides[1]), sign("key \(sides[0])")),
            let fields = Base64.url.decode(String(sides[0])).flatMap({ try? JSON(parsing: $0) }),
            let identity = fields["u"]?.string, let issued = fields["i"]?.int, let ends = fields["e"]?.int,
            let tokenEnds = fields["t"]?.int, let serial = fields["s"]?.int, let proven = fields["p"]?.bool
        else { return nil }
        return Session(
            identity: identity, issued: Timestamp(milliseconds: issued), ends: Timestamp(milliseconds: ends),
            tokenEnds: Timestamp(milliseconds: tokenEnds), serial: serial, isProven: proven)
    }

    /// What the Platform API asks for when the settings name none.
    var apiToken: String { sign("api") }
}
