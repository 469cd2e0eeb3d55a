/// Why a server could not start.
package struct HTTPServerError: Error, CustomStringConvertible, Equatable {
    package enum Kind: Sendable, Equatable {
        case addressInUse
        case notPermitted
        /// The host is no address of this machine.
        case badAddress
        case exhausted
    }

    package let kind: Kind
    package let text: String

    package var description: String { text }
}
