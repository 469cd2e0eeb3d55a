/// The other way to read a loosely folded text, where it is not plain what its writer meant: stretched letters as
/// one and not two ("shooort"), the digit 1 as an "l" and not an "i" ("fai1"). Most texts have none.
package struct SecondReading: Sendable {
    /// UTF-8; empty if there is no other way to read the text.
    package private(set) var bytes: [UInt8] = []
    /// For each byte its place in the first reading.
    private var places: [Int32] = []
    private var firstCount = 0
    private var changes: [(place: Int, isOne: Bool)] = []

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
        changes.append((place, false))
    }

    mutating func readAsL(_ place: Int) {
        changes.append((place, true))
    }

    /// Makes the reading from the first one, if anything was said to differ.
    mutating func finish(_ first: [UInt8]) {
        guard !changes.isEmpty else { return }
        firstCount = first.count
        var next = 0
        var i = 0
        while i < first.count {
            if next < changes.count, changes[next].place == i {
                defer { next += 1 }
                if !changes[next].isOne {
                    i += 1
                    while i < first.count, first[i] & 0xC0 == 0x80 { i += 1 }
                    continue
                }
                bytes.append(UInt8(ascii: "l"))
            } else {
                bytes.append(first[i])
            }
            places.append(Int32(i))
            i += 1
        }
    }
}
