/// A server's answer, whatever its status. Redirects are answers like any other: they are not followed, because the
/// request's secrets are meant for one server.
package struct IncomingAnswer: Sendable {
    package let status: Int
    /// Fields in order.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of that name, however it is spelled.
    package func header(_ name: String) -> String? {
        let lower = name.lowercased()
        return headers.first { $0.name.lowercased() == lower }?.value
    }
}
