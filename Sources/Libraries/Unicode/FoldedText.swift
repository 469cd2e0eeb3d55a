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

    /// Another way to read a loosely folded text.
    package private(set) var second = SecondReading()

    private var origin = Origin.same
    private var spans: [CICUSpan] = []
    /// For each byte the stretch of the original it comes from.
    private var stretches: [Stretch] = []

    /// How to find the original of a byte.
    private enum Origin {
        /// It has the same place.
        case same
        /// By walking `spans`; hits are rare, so the bytes have no table before they need one.
        case spans
        /// By `stretches`.
        case stretches
    }

    package init() {}

    package init(_ text: String, to level: FoldLevel) {
        fold(text, to: level)
    }

    package mutating func fold(_ text: String, to level: FoldLevel) {
        fold(text, to: level, marks: TextMarks(of: text))
    }

    /// The same for a text that was looked at before.
    package mutating func fold(_ text: String, to level: FoldLevel, marks: TextMarks) {
        var text = text
        text.withUTF8 { fold($0, to: level, marks: marks) }
    }

    /// Folds UTF-8; bytes that are none become U+FFFD.
    package mutating func fold(_ text: UnsafeBufferPointer<UInt8>, to level: FoldLevel) {
        fold(text, to: level, marks: TextMarks(of: text))
    }

    private mutating func fold(
        _ text: UnsafeBufferPointer<UInt8>, to level: FoldLevel, marks: TextMarks
    ) {
        let text = text.count > 1 << 24 ? UnsafeBufferPointer(rebasing: text.prefix(1 << 24)) : text
        self.level = level
        isASCII = !marks.has(.others)
        origin = .same
        second.clear()
        guard isASCII else {
            normalize(text, level == .exact ? .init(CICU_NFC.rawValue) : .init(CICU_NFKC_CASEFOLD.rawValue))
            if level != .exact, PlainForms.isNeeded(bytes, text) {
                tabulate()
                PlainForms.apply(to: &bytes, &stretches, text)
            }
            if level != .exact, Self.hasOddSpace(bytes) { joinSpaces() }
            if level == .squeezed { squeeze() }
            if level.isLoose { loosen(text) }
            return
        }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: text)
        guard level != .exact else { return }
        Self.lower(&bytes)
        if marks.has(.controls) || marks.has(.wideSpace), Self.hasOddASCIISpace(bytes) { joinSpaces() }
        if level == .squeezed { squeeze() }
        if level.isLoose, Self.hasPadding(bytes) { loosen(text) }
    }

    /// The stretch of the original's bytes that a stretch of the folded bytes was made from.
    package func original(of range: Range<Int>) -> Range<Int> {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= bytes.count else { return 0..<0 }
        switch origin {
        case .same: return range
        case .stretches:
            return Int(stretches[range.lowerBound].start)..<Int(stretches[range.upperBound - 1].end)
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

    /// Gives each byte its own stretch.
    private mutating func tabulate() {
        defer { origin = .stretches }
        if case .stretches = origin { return }
        stretches.removeAll(keepingCapacity: true)
        if case .same = origin {
            stretches.append(
                contentsOf: bytes.indices.lazy.map { Stretch(start: UInt32($0), end: UInt32($0 + 1)) })
            return
        }
        var from: UInt32 = 0
        for span in spans {
            let next = from + UInt32(span.from)
            for offset in 0..<UInt32(span.to) {
                stretches.append(
                    span.changed
                        ? Stretch(start: from, end: next)
                        : Stretch(start: from + offset, end: from + offset + 1))
            }
            from = next
        }
    }

    private mutating func loosen(_ original: UnsafeBufferPointer<UInt8>) {
        tabulate()
        var fold = LooseFold(bytes, stretches)
        if !isASCII { fold.unmaskLetters(original) }
        fold.swapDigits()
        fold.write(&bytes, &stretches, &second)
    }

    /// Joins single letters that something else than letters parts.
    private mutating func squeeze() {
        let runs = SingleLetters.runs(in: bytes)
        guard !runs.isEmpty else { return }
        tabulate()
        var kept: [UInt8] = []
        var origins: [Stretch] = []
        var next = 0
        for (i, byte) in bytes.enumerated() {
            while next < runs.count, i >= runs[next].range.upperBound { next += 1 }
            if next < runs.count, runs[next].range.contains(i), !runs[next].letters.contains(i) { continue }
            kept.append(byte)
            origins.append(stretches[i])
        }
        (bytes, stretches) = (kept, origins)
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
                (bytes[write], stretches[write]) = (bytes[read], stretches[read])
                read += 1
            } else {
                let start = stretches[read].start
                var last = read
                while read < bytes.count {
                    let width = Self.spaceWidth(bytes, at: read)
                    if width == 0 { break }
                    last = read + width - 1
                    read += width
                }
                (bytes[write], stretches[write]) = (32, Stretch(start: start, end: stretches[last].end))
            }
            write += 1
        }
        bytes.removeLast(bytes.count - write)
        stretches.removeLast(stretches.count - write)
    }
}

/// Some bytes of the original.
struct Stretch: Sendable {
    var start: UInt32
    var end: UInt32
}

extension FoldedText {
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
}
