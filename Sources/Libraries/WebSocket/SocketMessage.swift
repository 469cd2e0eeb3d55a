/// One message, whole, however many frames it came in. Text is valid UTF-8.
package enum SocketMessage: Sendable, Equatable {
    case text([UInt8])
    case binary([UInt8])

    package var bytes: [UInt8] {
        switch self {
        case .text(let bytes), .binary(let bytes): bytes
        }
    }

    package static func text(_ string: String) -> SocketMessage { .text(Array(string.utf8)) }
}
