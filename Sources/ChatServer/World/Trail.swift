/// Things in the order of their numbers, added at the end and given up at the front.
struct Trail<Element> {
    private var kept: [Element?] = []
    private var first = 0

    var count: Int { kept.count - first }
    var isEmpty: Bool { count == 0 }
    var last: Element? { kept.last.flatMap(\.self) }

    /// Positions count from the oldest that is left.
    subscript(position: Int) -> Element {
        get {
            guard let element = kept[first + position] else {
                preconditionFailure("a place given up is read")
            }
            return element
        }
        set { kept[first + position] = newValue }
    }

    mutating func append(_ element: Element) {
        kept.append(element)
    }

    mutating func remove(at position: Int) {
        kept.remove(at: first + position)
    }

    /// Gives up the oldest; the room is used again once half of it is empty.
    mutating func removeFirst() -> Element {
        let element = self[0]
        kept[first] = nil
        first += 1
        if first > 32, first * 2 > kept.count {
            kept.removeFirst(first)
            first = 0
        }
        return element
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
}

extension Trail: Sendable where Element: Sendable {}
