package import Chat

/// Text that is sent to somebody and may hold secrets: references may stand anywhere in it, as in `Bearer ${env:KEY}`.
package struct HiddenText: Sendable, Decodable, Equatable, ExpressibleByStringLiteral {
    package let secret: Secret

    package init(_ text: String) {
        secret = Secret(text)
    }

    package init(stringLiteral text: String) {
        self.init(text)
    }

    package init(from decoder: any Decoder) throws {
        secret = Secret(try decoder.singleValueContainer().decode(String.self))
    }

    package func reveal() -> String { secret.reveal() }

    /// Whether a field of that name holds a secret, as far as a name can tell.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "credential", "key", "passw", "secret", "token"].contains {
            name.contains($0)
        }
    }
}
