internal import CICU

/// A text folded for matching, with the way back from a place in it to the place in the original.
///
/// One value may be used for one text after another; it keeps its room. Reading it is safe from anywhere.
/// Only the first 16 MB of a text are read.
package struct FoldedText: Sendable {
    /// UTF-8.
    package private(set) var bytes: [UInt8] = []
    package private(set) var level = FoldLevel.plain
    /// Whether the original, and so the folded text, has nothing but ASCII.
    package private(set) var isASCII = true

    private var origin = Origin.same
    private var spans: [CICUSpan] = []
    var starts: [UInt32] = []
    var ends: [UInt32] = []
    var pieces: [LoosePiece] = []
    var tokens: [LooseToken] = []

    /// How to find the original of a byte.
    private enum Origin {
        /// It has the same place.
        case same
        /// By walking `spans`; hits are rare, so the bytes have no table before they need one.
        case spans
        /// `starts` and `ends` tell for each byte the stretch it comes from.
        case bytes
    }

    package init() {}

    package init(_ text: String, to level: FoldLevel) {
        fold(text, to: level)
    }

    package mutating func fold(_ text: String, to level: FoldLevel) {
        var text = text
        text.withUTF8 { fold($0, to: level) }
    }

    /// Folds UTF-8; bytes that are none become U+FFFD.
    package mutating func fold(_ text: UnsafeBufferPointer<UInt8>, to level: FoldLevel) {
        let text = UnsafeBufferPointer(rebasing: text.prefix(1 << 24))
        self.level = level
        isASCII = Self.isASCII(text)
        origin = .same
        guard isASCII else {
            normalize(text, level == .exact ? .init(CICU_NFC.rawValue) : .init(CICU_NFKC_CASEFOLD.rawValue))
            if level != .exact, Self.hasOddSpace(bytes) { joinSpaces() }
            if level == .loose { loosen(text) }
            return
        }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: text)
        guard level != .exact else { return }
        Self.lower(&bytes)
        if Self.hasOddSpace(bytes) { joinSpaces() }
        if level == .loose, Self.hasPadding(bytes) { loosen(text) }
    }

    /// The stretch of the original's bytes that a stretch of the folded bytes was made from.
    package func original(of range: Range<Int>) -> Range<Int> {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= bytes.count else { return 0..<0 }
        switch origin {
        case .same: return range
        case .bytes: return Int(starts[range.lowerBound])..<Int(ends[range.upperBound - 1])
        case .spans:
            var (from, to) = (0, 0)
            var lower = 0
            for span in spans {
                let (nextFrom, nextTo) = (from + Int(span.from), to + Int(span.to))
                if range.lowerBound >= to, range.lowerBound < nextTo {
                    lower = span.changed ? from : from + range.lowerBound - to
                }
                if range.upperBound <= nextTo {
                    return lower..<(span.changed ? nextFrom : from + range.upperBound - to)
                }
                (from, to) = (nextFrom, nextTo)
            }
            return lower..<from
        }
    }

    /// Gives each byte its own entry in `starts` and `ends`.
    mutating func tabulate() {
        defer { origin = .bytes }
        if case .bytes = origin { return }
        starts.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        if case .same = origin {
            starts.append(contentsOf: 0..<UInt32(bytes.count))
            ends.append(contentsOf: 1..<(UInt32(bytes.count) + 1))
            return
        }
        var from: UInt32 = 0
        for span in spans {
            let next = from + UInt32(span.from)
            for offset in 0..<UInt32(span.to) {
                starts.append(span.changed ? from : from + offset)
                ends.append(span.changed ? next : from + offset + 1)
            }
            from = next
        }
    }

    /// Puts other bytes in place of those there are; `starts` and `ends` must be theirs.
    mutating func replaceBytes(_ change: (inout [UInt8]) -> Void) {
        change(&bytes)
    }

    private mutating func normalize(_ text: UnsafeBufferPointer<UInt8>, _ form: CICUForm) {
        var room = Int32(text.count + text.count / 2 + 16)
        var spanRoom = Int32(max(spans.capacity, 64))
        while true {
            if bytes.count < room {
                bytes.append(contentsOf: repeatElement(0, count: Int(room) - bytes.count))
            }
            if spans.count < spanRoom {
                spans.append(contentsOf: repeatElement(CICUSpan(), count: Int(spanRoom) - spans.count))
            }
            var spanCount: Int32 = 0
            let count = cicu_normalize(
                form, text.baseAddress, Int32(text.count), &bytes, room, &spans, spanRoom, &spanCount)
            guard count >= 0 else {
                // ICU fails only without memory or data; the text as it stands is the best there is.
                bytes.removeAll(keepingCapacity: true)
                bytes.append(contentsOf: text)
                return
            }
            if count <= room, spanCount <= spanRoom {
                bytes.removeLast(bytes.count - Int(count))
                spans.removeLast(spans.count - Int(spanCount))
                origin = .spans
                return
            }
            room = max(room, count)
            spanRoom = max(spanRoom, spanCount)
        }
    }

    /// Makes one space of each run of white space.
    private mutating func joinSpaces() {
        tabulate()
        var (read, write) = (0, 0)
        while read < bytes.count {
            let width = Self.spaceWidth(bytes, at: read)
            if width == 0 {
                (bytes[write], starts[write], ends[write]) = (bytes[read], starts[read], ends[read])
                read += 1
            } else {
                let first = starts[read]
                var last = read
                while read < bytes.count {
                    let width = Self.spaceWidth(bytes, at: read)
                    if width == 0 { break }
                    last = read + width - 1
                    read += width
                }
                (bytes[write], starts[write], ends[write]) = (32, first, ends[last])
            }
            write += 1
        }
        bytes.removeLast(bytes.count - write)
        starts.removeLast(starts.count - write)
        ends.removeLast(ends.count - write)
    }
}

// The loops below have no exits in the middle so that the compiler makes vector code of them.
extension FoldedText {
    static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var all: UInt8 = 0
        for byte in text { all |= byte }
        return all < 0x80
    }

    static func lower(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBufferPointer { bytes in
            for i in bytes.indices {
                let byte = bytes[i]
                bytes[i] = byte &- 65 < 26 ? byte | 32 : byte
            }
        }
    }

    /// Whether there is white space other than single spaces; now and then yes where there is none.
    private static func hasOddSpace(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var before: UInt8 = 0
            var odd = false
            for byte in bytes {
                odd =
                    odd || byte &- 9 < 5 || byte == 0xC2 || byte == 0xE1 || byte == 0xE2
                    || byte == 32 && before == 32
                before = byte
            }
            return odd
        }
    }

    /// How many bytes of white space stand there; compatibility spaces have become plain ones before.
    private static func spaceWidth(_ bytes: [UInt8], at i: Int) -> Int {
        switch bytes[i] {
        case 32, 9...13: 1
        case 0xC2 where i + 1 < bytes.count && bytes[i + 1] == 0x85: 2
        case 0xE1 where i + 2 < bytes.count && bytes[i + 1] == 0x9A && bytes[i + 2] == 0x80: 3
        case 0xE2 where i + 2 < bytes.count && bytes[i + 1] == 0x80 && (0xA8...0xA9).contains(bytes[i + 2]): 3
        default: 0
        }
    }

    /// Whether folded ASCII has a digit beside a letter, or three equal letters in a row.
    private static func hasPadding(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var (before, last): (UInt8, UInt8) = (0, 0)
            var found = false
            for byte in bytes {
                let (letter, digit) = (byte &- 97 < 26, byte &- 48 < 10)
                found =
                    found || letter && (last &- 48 < 10 || byte == last && byte == before)
                    || digit && last &- 97 < 26
                (before, last) = (last, byte)
            }
            return found
        }
    }
}
