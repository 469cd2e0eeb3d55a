internal import Chat
internal import HTTP
internal import JSON

/// Session tokens that Sendbird's Platform API issues for our user.
struct SessionTokenSource: TokenSource {
    let address: String
    let user: String
    let key: Secret
    let life: Duration
    let http: HTTPClient
    let clock: ServiceClock

    var place: String { "Sendbird's Platform API" }

    func token() async throws(TokenError) -> String {
        let answer: IncomingAnswer
        let body: JSON = ["expires_at": .int((clock.now() + life).milliseconds)]
        do {
            answer = try await http.send(
                OutgoingRequest(
                    method: "POST", url: "\(address)/v3/users/\(user.percentEncoded)/token",
                    headers: [
                        ("Api-Token", key.reveal()), ("Content-Type", "application/json; charset=utf8"),
                        ("Accept", "application/json"),
                    ], body: body.bytes(), timeout: .seconds(15), maximumAnswer: 1 << 20))
        } catch {
            throw TokenError(.again, "no token from \(place): \(error)")
        }
        let json = try? JSON(parsing: answer.body)
        guard (200..<300).contains(answer.status), let token = json?["token"]?.string, !token.isEmpty else {
            let refusal = SendbirdRefusal(
                code: json?["code"]?.int ?? 0, message: json?["message"]?.string ?? "", status: answer.status)
            throw TokenError(
                refusal.mayPass ? .again : .act, "\(place) gives no token: \(refusal)\(hint(refusal))")
        }
        return token
    }

    private func hint(_ refusal: SendbirdRefusal) -> String {
        switch refusal.code {
        case 400401: " - is \"api_token\" right?"
        case 400201, 400301: " - is there a user \"\(user)\" in the application?"
        default: ""
        }
    }
}
