/// A request to a server.
package struct OutgoingRequest: Sendable {
    package var method: String
    package var url: String
    package var headers: [(String, String)]
    /// nil: none. Without a `Content-Type` header none is sent.
    package var body: [UInt8]?
    /// For all of it, name and connection included.
    package var timeout: Duration
    /// Bytes of the answer's body, once decompressed; more is an error.
    package var maximumAnswer: Int

    package init(
        method: String = "GET", url: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
        timeout: Duration = .seconds(30), maximumAnswer: Int = 10 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maximumAnswer = maximumAnswer
    }
}
