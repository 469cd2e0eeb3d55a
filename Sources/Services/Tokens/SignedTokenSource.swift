internal import Chat
internal import Crypto
package import JSON

/// Tokens that we sign ourselves, as Twilio's helper libraries do.
///
/// Source of the fields: Twilio's documentation of access tokens.
package struct SignedTokenSource: TokenSource {
    private let account: String
    private let key: String
    private let secret: String
    private let service: String
    private let identity: String
    private let life: Duration
    private let clock: ServiceClock

    /// `account` begins with `AC`, `key` with `SK`, `service` with `IS`; `life` is at most a day.
    package init(
        account: String, key: String, secret: String, service: String, identity: String,
        life: Duration = .seconds(3600), clock: ServiceClock = .system
    ) {
        self.account = account
        self.key = key
        self.secret = secret
        self.service = service
        self.identity = identity
        self.life = life
        self.clock = clock
    }

    package var place: String { "our own signature with \(key)" }

    /// The same key signs the same way.
    package var mayImprove: Bool { false }

    package func token() async throws(TokenError) -> String {
        let now = clock.now().milliseconds / 1000
        // More than the seconds in it, so that two tokens of one second differ.
        let id = "\(key)-\(now)-\(Hex.encode(randomBytes(4)))"
        let expires = now + life.milliseconds / 1000
        return Self.sign(
            [
                "jti": .string(id), "iss": .string(key), "sub": .string(account), "nbf": .int(now),
                "iat": .int(now), "exp": .int(expires),
                "grants": ["identity": .string(identity), "chat": ["service_sid": .string(service)]],
            ], secret: secret)
    }

    /// A JSON web token of these claims, signed with HMAC SHA-256.
    package static func sign(_ claims: JSON, secret: String) -> String {
        let header = #"{"alg":"HS256","cty":"twilio-fpa;v=1","typ":"JWT"}"#
        let signed = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(claims.bytes())
        let signature = HMAC.sha256(key: Array(secret.utf8), data: Array(signed.utf8))
        return signed + "." + Base64.url.encode(signature)
    }
}
