internal import Unicode

/// Many words by hash, for lists that would make the automaton outgrow the processor's cache.
///
/// It knows only words within which no word boundary can be, whatever surrounds them; a text is cut into the
/// longest runs of such letters, and each is looked up at once.
struct WordTable: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int32] = [0]
    private var literals: [Int32] = []
    /// Upper half of the hash and the word's number plus one; 0 is free.
    private var slots: [UInt64] = []
    private var longest = 0

    var isEmpty: Bool { literals.isEmpty }

    static func fits(_ word: [UInt8]) -> Bool {
        guard !word.isEmpty else { return false }
        return word.withUnsafeBufferPointer { text in
            var i = 0
            while i < text.count {
                let width = letterWidth(text, at: i, WordLetters.table)
                if width == 0 { return false }
                i += width
            }
            return true
        }
    }

    /// The words must differ and fit; `literal` is what an occurrence will name.
    init(_ words: [(literal: Int32, text: [UInt8])]) {
        guard !words.isEmpty else { return }
        var size = 16
        while size < words.count * 3 { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
        for word in words {
            bytes.append(contentsOf: word.text)
            ends.append(Int32(bytes.count))
            literals.append(word.literal)
            longest = max(longest, word.text.count)
            let hash = word.text.withUnsafeBufferPointer { Self.hash($0, 0, $0.count) }
            var slot = Int(truncatingIfNeeded: hash) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = hash & 0xFFFF_FFFF_0000_0000 | UInt64(literals.count)
        }
    }

    func scan(_ text: UnsafeBufferPointer<UInt8>, into found: inout [Occurrence]) {
        guard !literals.isEmpty else { return }
        let letters = WordLetters.table
        letters.withUnsafeBufferPointer { letters in
            var i = 0
            while i < text.count {
                let start = i
                while i < text.count {
                    let width = Self.letterWidth(text, at: i, letters)
                    if width == 0 { break }
                    i += width
                }
                if i > start {
                    if i - start <= longest { look(text, start, i, into: &found) }
                } else {
                    i += 1
                }
            }
        }
    }

    private func look(
        _ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, into found: inout [Occurrence]
    ) {
        let hash = Self.hash(text, start, end)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash >> 32 {
                let word = Int(slots[slot] & 0xFFFF_FFFF) - 1
                let range = Int(ends[word])..<Int(ends[word + 1])
                if range.count == end - start, bytes[range].elementsEqual(text[start..<end]) {
                    found.append(Occurrence(literal: literals[word], end: Int32(end)))
                    return
                }
            }
            slot = (slot + 1) & mask
        }
    }

    /// How many bytes of a letter stand there, 0 if it is none of `WordLetters`.
    @inline(__always)
    private static func letterWidth<Letters: RandomAccessCollection<Bool>>(
        _ text: UnsafeBufferPointer<UInt8>, at i: Int, _ letters: Letters
    ) -> Int where Letters.Index == Int {
        let first = text[i]
        if first < 0x80 { return letters[Int(first)] ? 1 : 0 }
        guard first >= 0xC2, first < 0xD8, i + 1 < text.count else { return 0 }
        return letters[Int(first & 0x1F) << 6 | Int(text[i + 1] & 0x3F)] ? 2 : 0
    }

    /// The first and the last eight bytes and the length, in one multiplication. Words that agree in all of that
    /// share a chain.
    @inline(__always)
    private static func hash(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> UInt64 {
        let count = end - start
        var first: UInt64 = 0
        var last: UInt64 = 0
        if count >= 8, let base = text.baseAddress {
            let raw = UnsafeRawPointer(base)
            first = raw.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            last = raw.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self)
        } else {
            for i in start..<end { first = first << 8 | UInt64(text[i]) }
        }
        let key = first ^ (last << 29 | last >> 35) ^ UInt64(truncatingIfNeeded: count)
        let product = key.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
