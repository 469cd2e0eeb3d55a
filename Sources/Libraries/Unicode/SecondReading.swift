/// The other ways to read a loosely folded text, where it is not plain what its writer meant: stretched letters as
/// one and not two ("shooort"), the digit 1 as an "l" and not an "i" ("fai1"); and a word of letters that two scripts
/// share in the other script, too. Most texts have none.
package struct SecondReading: Sendable {
    /// UTF-8; empty if there is no other way to read the text.
    package private(set) var bytes: [UInt8] = []
    /// For each byte its place in the first reading.
    private var places: [Int32] = []
    private var firstCount = 0
    private var changes: [(place: Int, to: Change)] = []

    private enum Change: Equatable { case nothing, l, other(UInt32) }
    /// Parts two readings of the same text; no pattern has it.
    private static let separator: UInt8 = 1

    /// Where a stretch of it is in the first reading.
    package func first(of range: Range<Int>) -> Range<Int> {
        guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= bytes.count else { return 0..<0 }
        let end = range.upperBound < bytes.count ? Int(places[range.upperBound]) : firstCount
        return Int(places[range.lowerBound])..<end
    }

    mutating func clear() {
        guard firstCount > 0 else { return }
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        firstCount = 0
    }

    /// The letter at that place of the first reading is the second of a run.
    mutating func skip(_ place: Int) {
        if changes.last?.place == place { changes.removeLast() }
        changes.append((place, .nothing))
    }

    mutating func readAsL(_ place: Int) {
        changes.append((place, .l))
    }

    /// The letter at that place of the first reading is that one of another script.
    mutating func read(_ place: Int, as other: UInt32) {
        changes.append((place, .other(other)))
    }

    /// Makes the readings from the first one, if anything was said to differ.
    mutating func finish(_ first: [UInt8]) {
        guard !changes.isEmpty else { return }
        firstCount = first.count
        let others = changes.count { if case .other = $0.to { true } else { false } }
        if others < changes.count { add(first, inOtherScript: false) }
        guard others > 0 else { return }
        if !bytes.isEmpty {
            bytes.append(Self.separator)
            places.append(Int32(firstCount))
        }
        add(first, inOtherScript: true)
    }

    private mutating func add(_ first: [UInt8], inOtherScript: Bool) {
        var next = 0
        var i = 0
        while i < first.count {
            var change: Change?
            if next < changes.count, changes[next].place == i {
                change = changes[next].to
                next += 1
            }
            if case .other = change, !inOtherScript { change = nil }
            guard let change else {
                bytes.append(first[i])
                places.append(Int32(i))
                i += 1
                continue
            }
            let start = bytes.count
            switch change {
            case .nothing: break
            case .l: bytes.append(UInt8(ascii: "l"))
            case .other(let scalar): appendScalar(scalar, to: &bytes)
            }
            places.append(contentsOf: repeatElement(Int32(i), count: bytes.count - start))
            i += 1
            while i < first.count, first[i] & 0xC0 == 0x80 { i += 1 }
        }
    }
}
