/// Things in the order of their numbers, added at the end and given up at the front.
///
/// Kept in slices, so that a change of one that somebody else holds a copy of copies a slice and not everything.
struct Trail<Element> {
    /// None is empty, and of the first the elements before `skipped` are given up.
    private var slices: [[Element]] = []
    private var skipped = 0
    private(set) var count = 0
    private static var sliceSize: Int { 256 }

    var isEmpty: Bool { count == 0 }

    /// Positions count from the oldest that is left.
    subscript(position: Int) -> Element {
        get {
            let place = place(of: position)
            return slices[place.slice][place.offset]
        }
        set {
            let place = place(of: position)
            slices[place.slice][place.offset] = newValue
        }
    }

    private func place(of position: Int) -> (slice: Int, offset: Int) {
        precondition(position >= 0 && position < count, "a place outside of the trail")
        var offset = position + skipped
        for (slice, elements) in slices.enumerated() {
            if offset < elements.count { return (slice, offset) }
            offset -= elements.count
        }
        preconditionFailure("the trail's count is wrong")
    }

    mutating func append(_ element: Element) {
        if slices.last.map({ $0.count >= Self.sliceSize }) ?? true { slices.append([]) }
        slices[slices.count - 1].append(element)
        count += 1
    }

    mutating func remove(at position: Int) {
        let place = place(of: position)
        slices[place.slice].remove(at: place.offset)
        count -= 1
        tidy(place.slice)
    }

    mutating func removeFirst() -> Element {
        let element = self[0]
        skipped += 1
        count -= 1
        tidy(0)
        return element
    }

    private mutating func tidy(_ slice: Int) {
        guard slices[slice].count == (slice == 0 ? skipped : 0) else { return }
        slices.remove(at: slice)
        if slice == 0 { skipped = 0 }
    }

    /// The first position whose number is not below `number`; `count` when there is none.
    func position(of number: Int64, by key: (Element) -> Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if key(self[middle]) < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// From this position to the newest.
    func elements(from position: Int) -> [Element] {
        guard position < count else { return [] }
        let place = place(of: position)
        return Array(slices[place.slice][place.offset...]) + slices[(place.slice + 1)...].joined()
    }

    /// The newest of which this holds.
    func last(where isWanted: (Element) -> Bool) -> Element? {
        for (slice, elements) in slices.enumerated().reversed() {
            let kept = elements[(slice == 0 ? skipped : 0)...]
            if let found = kept.last(where: isWanted) { return found }
        }
        return nil
    }
}

extension Trail: Sendable where Element: Sendable {}
