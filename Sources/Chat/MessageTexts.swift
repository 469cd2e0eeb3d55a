/// How long the texts of a message are that were appended to some bytes, in their order; and what else it says.
///
/// They are appended here, where the parts of an event can be read in their place: elsewhere each look at one counts
/// references, which takes longer than to copy the bytes.
package struct MessageTexts: Sendable {
    /// The event's id.
    package internal(set) var event: UInt32 = 0
    /// The message's id; empty where it is the event's, as in most services.
    package internal(set) var id: UInt32 = 0
    package internal(set) var user: UInt32 = 0
    package internal(set) var name: UInt32 = 0
    /// With `betweenRoles` between them.
    package internal(set) var roles: UInt32 = 0
    package internal(set) var text: UInt32 = 0
    package internal(set) var index: Int64?
    package internal(set) var isBot = false
    /// Whether there is more than texts: a message that it answers, attachments.
    package internal(set) var hasMore = false

    package static let betweenRoles: Character = "\u{1F}"

    /// Gives the length in bytes.
    static func append(_ text: String, to bytes: inout [UInt8]) -> UInt32 {
        let before = bytes.count
        // Not `withUTF8`, which would hold the text once more.
        if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            bytes.append(contentsOf: text.utf8)
        }
        return UInt32(bytes.count - before)
    }

    /// As far as there is room; gives the length in bytes.
    static func copy(_ text: String, to room: UnsafeMutableRawBufferPointer) -> Int {
        let count = text.utf8.withContiguousStorageIfAvailable { bytes in
            room.copyBytes(from: bytes.prefix(room.count))
            return bytes.count
        }
        if let count { return count }
        room.copyBytes(from: text.utf8.prefix(room.count))
        return text.utf8.count
    }
}
