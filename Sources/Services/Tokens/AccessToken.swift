internal import Crypto
package import Chat
internal import JSON

/// What a chat service lets us in with. It prints as its last characters only.
package struct AccessToken: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    package let text: String
    /// When we got it, by our own clock.
    package let fetched: Timestamp
    /// What it says about itself; nil when it is not a token that can be read.
    package let claims: Claims?

    /// What a token says about itself, by the clock of whoever issued it.
    package struct Claims: Sendable, Equatable {
        package var identity: String?
        /// The chat service that it is for.
        package var service: String?
        package var account: String?
        package var issued: Timestamp?
        package var notBefore: Timestamp?
        package var expires: Timestamp?
        /// `HS256` and the like.
        package var algorithm: String?
    }

    package init(_ text: String, fetched: Timestamp) {
        self.text = text
        self.fetched = fetched
        claims = Claims(token: text)
    }

    /// How long it lives from when we got it; nil when it does not say.
    ///
    /// Its expiry is told by another clock. Where it also says when it was issued, that difference bounds its life, and
    /// stands for it when by our clock it should be dead already: then either it is old or one of the clocks is wrong,
    /// and only the service can tell.
    package var life: Duration? {
        guard let expires = claims?.expires else { return nil }
        let left = expires - fetched
        guard let issued = claims?.issued ?? claims?.notBefore, issued < expires else {
            return left > .zero ? left : nil
        }
        return left > .zero ? min(left, expires - issued) : expires - issued
    }

    /// By our own clock.
    package var expires: Timestamp { life.map { fetched + $0 } ?? .never }

    /// At 80 % of its life, by our own clock.
    package var refreshAfter: Timestamp { life.map { fetched + $0 * 0.8 } ?? .never }

    package var description: String {
        text.utf8.count < 24 ? "token(…)" : "token(…\(text.suffix(4)))"
    }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AccessToken.Claims {
    init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.url.decode(String(parts[1])),
            let claims = try? JSON(parsing: payload), claims.object != nil
        else { return nil }
        let header = Base64.url.decode(String(parts[0])).flatMap { try? JSON(parsing: $0) }
        let grants = claims["grants"]
        identity = grants?["identity"]?.string
        service = (grants?["chat"] ?? grants?["ip_messaging"])?["service_sid"]?.string
        account = claims["sub"]?.string
        issued = Self.moment(claims["iat"])
        notBefore = Self.moment(claims["nbf"])
        expires = Self.moment(claims["exp"])
        algorithm = header?["alg"]?.string
    }

    private static func moment(_ seconds: JSON?) -> Timestamp? {
        guard let seconds = seconds?.double, seconds.magnitude < 1e12 else { return nil }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }
}

extension AccessToken {
    /// What we ourselves read in a token that was refused, for whoever has to find out why.
    ///
    /// `identity` and `service` are what we expected, nil when anything will do.
    package func diagnosis(identity: String?, at now: Timestamp) -> String {
        guard let claims else { return "\(self) cannot be read: it is not a JSON web token" }
        var words: [String] = []
        if let expires = claims.expires, expires <= now {
            words.append("it expired \(Self.words(for: now - expires)) ago by our clock")
        }
        if let start = claims.notBefore ?? claims.issued, start > now + .seconds(2) {
            words.append("it is not valid for another \(Self.words(for: start - now)) by our clock")
        }
        if let identity, let own = claims.identity, own != identity {
            words.append("it is for \"\(own)\" and not for \"\(identity)\"")
        }
        if claims.identity == nil { words.append("it names no identity") }
        if claims.service == nil { words.append("it has no chat grant with a service_sid") }
        if let algorithm = claims.algorithm, algorithm != "HS256" {
            words.append("it is signed with \(algorithm) where HS256 is expected")
        }
        if words.isEmpty {
            let until =
                claims.expires.map { ", valid for another \(Self.words(for: $0 - now)) by our clock" } ?? ""
            let service = claims.service ?? "?"
            words.append("it looks right to us: for \"\(claims.identity ?? "?")\" in \(service)\(until)")
        }
        return "\(self): " + words.joined(separator: "; ")
    }

    private static func words(for duration: Duration) -> String {
        let seconds = duration.milliseconds / 1000
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86400) days"
        }
    }
}
