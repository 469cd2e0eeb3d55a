package import Chat
internal import Crypto
internal import JSON

/// Signs access tokens and says what is wrong with others.
package struct TokenIssuer: Sendable {
    package let names: ServiceNames
    /// The longest life of a token.
    static let longestLife: Duration = .seconds(24 * 3600)

    package init(names: ServiceNames) {
        self.names = names
    }

    /// A token for `identity` that ends `life` after `now`.
    package func token(for identity: String, life: Duration, device: String? = nil, at now: Timestamp)
        -> String
    {
        let seconds = now.milliseconds / 1000
        var chat: JSON = ["service_sid": .string(names.service.text)]
        if let device {
            chat = [
                "service_sid": .string(names.service.text), "endpoint_id": .string("\(identity):\(device)"),
            ]
        }
        let header: JSON = ["alg": "HS256", "cty": "twilio-fpa;v=1", "typ": "JWT"]
        let payload: JSON = [
            "jti": .string("\(names.key.text)-\(seconds)"), "iss": .string(names.key.text),
            "sub": .string(names.account.text), "nbf": .int(seconds),
            "exp": .int(seconds + life.milliseconds / 1000),
            "grants": ["identity": .string(identity), "chat": chat],
        ]
        return sign(header: header.bytes(), payload: payload.bytes())
    }

    /// The three parts of a token, the last made with our secret.
    func sign(header: [UInt8], payload: [UInt8]) -> String {
        let signed = Base64.url.encode(header) + "." + Base64.url.encode(payload)
        return signed + "." + Base64.url.encode(signature(of: signed))
    }

    private func signature(of text: String) -> [UInt8] {
        HMAC.sha256(key: Array(names.secret.utf8), data: Array(text.utf8))
    }

    /// What a good token says.
    package struct Claims: Sendable, Equatable {
        package let identity: String
        package let expires: Timestamp
    }

    /// Why a token is no good, with the code that the service has for it.
    package enum Refusal: Int, Error, Sendable {
        case invalid = 20101
        case header = 20102
        case issuer = 20103
        case expired = 20104
        case notYet = 20105
        case grants = 20106
        case signature = 20107
        case tooLong = 20157
    }

    package func check(_ token: String, at now: Timestamp) throws(Refusal) -> Claims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = json(parts[0]), let payload = json(parts[1]) else {
            throw .invalid
        }
        guard header["alg"] == "HS256", header["typ"] == nil || header["typ"] == "JWT",
            header["cty"] == nil || header["cty"] == "twilio-fpa;v=1"
        else { throw .header }
        guard payload["iss"]?.string == names.key.text, payload["sub"]?.string == names.account.text else {
            throw .issuer
        }
        guard let given = Base64.url.decode(String(parts[2])),
            constantTimeEqual(given, signature(of: parts[0] + "." + parts[1]))
        else { throw .signature }
        return try checkTimes(of: payload, at: now)
    }

    private func checkTimes(of payload: JSON, at now: Timestamp) throws(Refusal) -> Claims {
        guard let exp = payload["exp"]?.int, exp > 0, exp < Int64.max / 1000 else { throw .expired }
        let expires = Timestamp(milliseconds: exp * 1000)
        guard expires > now else { throw .expired }
        if let nbf = payload["nbf"]?.int, nbf > 0, nbf > (now.milliseconds + 999) / 1000 { throw .notYet }
        guard expires - now <= Self.longestLife + .seconds(1) else { throw .tooLong }
        let grants = payload["grants"]
        // Old tokens call the grant by the product's old name.
        let chat = grants?["chat"] ?? grants?["ip_messaging"]
        guard chat?["service_sid"]?.string == names.service.text,
            let identity = grants?["identity"]?.string, !identity.isEmpty
        else { throw .grants }
        return Claims(identity: identity, expires: expires)
    }

    private func json(_ part: Substring) -> JSON? {
        Base64.url.decode(String(part)).flatMap { try? JSON(parsing: $0) }
    }
}

extension TokenIssuer.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalid: "Invalid Access Token"
        case .header: "Invalid Access Token header"
        case .issuer: "Invalid Access Token issuer/subject"
        case .expired: "Access Token expired or expiration date invalid"
        case .notYet: "Access Token not yet valid"
        case .grants: "Invalid Access Token grants"
        case .signature: "Invalid Access Token signature"
        case .tooLong: "Expiration Time in the Access Token is too far in the future"
        }
    }
}
