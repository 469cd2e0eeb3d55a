internal import Chat

/// An id of which most are kept in a fixed number of bytes, so that to keep one neither allocates nor counts references.
struct RateID: Sendable {
    /// Up to 62 bytes and how many they are; of a longer id its beginning.
    private(set) var packed = SIMD64<UInt8>()
    /// An id that is longer than most.
    private(set) var long: String?

    private static let most = 62
    private static let isLong = UInt8.max

    init(_ text: String) {
        var text = text
        let count = text.withUTF8 { text in
            fill {
                $0.copyBytes(from: text.prefix($0.count))
                return text.count
            }
        }
        if count > Self.most { long = text }
    }

    /// Of the event's message, or of the event itself.
    init(of event: ChatEvent, ofMessage: Bool) {
        let count = fill { ofMessage ? event.copyMessageID(to: $0) : event.copyID(to: $0) }
        if count > Self.most { long = ofMessage ? event.message?.id ?? event.id : event.id }
    }

    init(packed: SIMD64<UInt8>, long: String?) {
        self.packed = packed
        self.long = long
    }

    var text: String {
        long ?? withUnsafeBytes(of: packed) { String(decoding: $0[..<Int(packed[63])], as: UTF8.self) }
    }

    private mutating func fill(_ copy: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let count = withUnsafeMutableBytes(of: &packed) { copy(.init(rebasing: $0[..<Self.most])) }
        packed[63] = count > Self.most ? Self.isLong : UInt8(count)
        return count
    }
}
