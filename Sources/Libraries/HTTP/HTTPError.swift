/// Why a request has no answer. Names the host, never the path or the query, which may hold secrets.
package struct HTTPError: Error, CustomStringConvertible, Equatable {
    package enum Kind: Sendable, Equatable {
        /// No connection, or it broke. Whether the server has acted on the request is unknown when `mayHaveArrived`.
        case unreachable
        case timeout
        /// The server's certificate is not to be trusted, or no common way to encrypt.
        case tls
        case tooLarge
        /// The URL, the method or a header cannot be used.
        case badURL
        case cancelled
    }

    package let kind: Kind
    package let text: String
    /// The request may have reached the server: false only when it certainly did not.
    package let mayHaveArrived: Bool

    package init(_ kind: Kind, _ text: String, mayHaveArrived: Bool = false) {
        self.kind = kind
        self.text = text
        self.mayHaveArrived = mayHaveArrived
    }

    package var description: String { text }
}
