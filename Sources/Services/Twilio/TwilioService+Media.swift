internal import Chat
internal import HTTP
internal import JSON

extension TwilioService {
    /// Uploads a file and gives its SID. Files go over HTTP, not through the socket.
    func upload(_ file: Outgoing.File) async throws -> String {
        guard let link = configuration?.media else {
            throw ChatServiceError.rejected("the service takes no files")
        }
        guard file.bytes.count <= 150 << 20 else {
            throw ChatServiceError.rejected("\"\(file.name)\" is larger than 150 MB")
        }
        guard let used = token else { throw ChatServiceError.unreachable("not connected") }
        let url = link.adding("Category", "media").adding("Filename", file.name)
        var answer = try await post(file, to: url, with: used)
        if answer.status == 401 {
            await keeper.invalidate(used)
            guard let next = try? await keeper.current() else {
                throw ChatServiceError.unauthorized("the media server refused the token")
            }
            answer = try await post(file, to: url, with: next)
        }
        switch answer.status {
        case 200..<300:
            let json = try? JSON(parsing: answer.body)
            guard let sid = json?["sid"]?.string else {
                throw ChatServiceError.rejected("the media server gives no sid")
            }
            return sid
        case 401: throw ChatServiceError.unauthorized("the media server refused the token")
        case 429, 500...:
            // The message was not sent, so all of it may be tried again.
            let pause = answer.header("retry-after").flatMap { Double($0) }.map {
                Duration.seconds(min($0, 3600))
            }
            throw ChatServiceError.rateLimited(
                after: pause ?? .seconds(2), "the media server answered \(answer.status)")
        default: throw ChatServiceError.rejected("the media server answered \(answer.status)")
        }
    }

    private func post(_ file: Outgoing.File, to url: String, with token: AccessToken) async throws
        -> IncomingAnswer
    {
        do {
            return try await tools.http.send(
                OutgoingRequest(
                    method: "POST", url: url,
                    headers: [("X-Twilio-Token", token.text), ("Content-Type", file.contentType)],
                    body: file.bytes, timeout: .seconds(120)))
        } catch {
            // An upload that nobody refers to does no harm.
            throw ChatServiceError.rateLimited(after: .seconds(2), error.text)
        }
    }
}
