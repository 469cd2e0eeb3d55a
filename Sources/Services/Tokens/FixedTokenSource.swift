package import Chat

/// A token that stands in the configuration and stays as it is; empty for users who need none.
package struct FixedTokenSource: TokenSource {
    package let remedy: String?
    private let secret: Secret

    /// `remedy` says what to do when it is refused.
    package init(token: Secret, remedy: String) {
        secret = token
        self.remedy = remedy
    }

    package var place: String { "the configuration" }

    package var mayImprove: Bool { false }

    package func token() async throws(TokenError) -> String { secret.reveal() }
}
