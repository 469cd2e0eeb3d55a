package import Chat

/// A token that stands in the configuration and stays as it is; empty for users who need none.
package struct FixedTokenSource: TokenSource {
    private let secret: Secret

    package init(token: Secret) {
        secret = token
    }

    package var place: String { "the configuration" }

    package var mayImprove: Bool { false }

    package func token() async throws(TokenError) -> String { secret.reveal() }
}
