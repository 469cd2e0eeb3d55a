internal import Chat

extension ChatServiceError {
    /// What an answer over HTTP that is no success means for the action it was about, beside limits. `repeatsFreely`: as the
    /// action does.
    static func answered(
        _ status: Int, _ reason: String, retryAfter: Duration?, repeatsFreely: Bool
    ) -> ChatServiceError {
        switch status {
        case 401: .unauthorized(reason)
        // Whoever answers so may not know how far it came.
        case 408, 500...:
            repeatsFreely ? .rateLimited(after: retryAfter ?? .seconds(1), reason) : .unknownOutcome(reason)
        default: .rejected(reason)
        }
    }
}
