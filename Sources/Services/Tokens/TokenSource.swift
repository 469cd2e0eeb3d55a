/// Where a token comes from.
package protocol TokenSource: Sendable {
    /// Gets one; each call asks anew.
    func token() async throws(TokenError) -> String

    /// Waits until asking again may give another token than `refused`; throws when it never will.
    func mayDiffer(from refused: AccessToken) async throws

    /// Where it is, for messages; no secrets.
    var place: String { get }

    /// Whether it may give good tokens some day though those of now are refused, and nothing is changed here.
    var mayImprove: Bool { get }

    /// What somebody has to do when its token is refused, for a source that never has another; nil for all that do.
    var remedy: String? { get }
}

extension TokenSource {
    package var mayImprove: Bool { true }
    package var remedy: String? { nil }

    package func mayDiffer(from refused: AccessToken) async throws {
        throw TokenError(.again, "\(place) gives the \(refused) again that was refused")
    }
}

/// Why there is no token.
package struct TokenError: Error, Equatable, CustomStringConvertible {
    package enum Reaction: Sendable {
        /// Asking again may help.
        case again
        /// Somebody probably has to act first; it is asked again all the same, and said aloud.
        case act
    }

    package let reaction: Reaction
    package let description: String

    package init(_ reaction: Reaction, _ description: String) {
        self.reaction = reaction
        self.description = description
    }
}
