/// How long the texts of a message are that were copied one behind the other; and what else it says.
///
/// They are copied here, where the parts of an event can be read in their place: elsewhere each look at one counts
/// references, which takes longer than to copy the bytes.
package struct MessageTexts: Sendable {
    /// How long they are in all. If that is more than there was room, they were not all copied.
    package private(set) var total = 0
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
    mutating func add(_ text: String, to room: UnsafeMutableRawBufferPointer) -> UInt32 {
        // Not `withUTF8`, which would hold the text once more.
        let place = total
        let count =
            text.utf8.withContiguousStorageIfAvailable { Self.copy($0, to: room, at: place) }
            ?? Array(text.utf8).withUnsafeBufferPointer { Self.copy($0, to: room, at: place) }
        total += count
        return UInt32(count)
    }

    private static func copy(
        _ text: UnsafeBufferPointer<UInt8>, to room: UnsafeMutableRawBufferPointer, at place: Int
    ) -> Int {
        if let start = text.baseAddress, let first = room.baseAddress, place + text.count <= room.count {
            (first + place).copyMemory(from: start, byteCount: text.count)
        }
        return text.count
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
