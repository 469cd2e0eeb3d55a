/// Values by the numbers of identities. The numbers are one sequence, so a place is found without hashing.
///
/// It belongs to the part that uses it: the compiler does not specialize it across parts, and then it is slower than a
/// dictionary.
struct IdentityTable<Value> {
    private var pages: [[Value?]] = []
    private(set) var count = 0

    private static var pageSize: Int { 64 }

    init() {}

    var isEmpty: Bool { count == 0 }

    subscript(number: UInt32) -> Value? {
        get {
            let (page, place) = Self.place(of: number)
            // An empty page has no places at all.
            return page < pages.count && place < pages[page].count ? pages[page][place] : nil
        }
        set {
            let (page, place) = Self.place(of: number)
            if newValue == nil, page >= pages.count || pages[page].isEmpty { return }
            makeRoom(in: page)
            count += (newValue == nil ? 0 : 1) - (pages[page][place] == nil ? 0 : 1)
            pages[page][place] = newValue
        }
    }

    /// Changes a value in its place; `initial` is put there first when there is none.
    mutating func change<Result>(
        _ number: UInt32, default initial: @autoclosure () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        let (page, place) = Self.place(of: number)
        makeRoom(in: page)
        // Moved out and back: nothing of it is copied.
        let known = pages[page][place].take()
        if known == nil { count += 1 }
        var value = known ?? initial()
        defer { pages[page][place] = value }
        return body(&value)
    }

    /// Changes a value in its place; nil when that is not there yet.
    mutating func withPlace<Result>(_ number: UInt32, _ body: (inout Value?) -> Result?) -> Result? {
        let (page, place) = Self.place(of: number)
        guard page < pages.count, place < pages[page].count else { return nil }
        return body(&pages[page][place])
    }

    /// The values, in the order of their numbers.
    var values: some Sequence<Value> { pages.lazy.joined().compactMap(\.self) }

    mutating func removeAll(where isUnwanted: (Value) -> Bool) {
        for page in pages.indices {
            var left = 0
            for place in pages[page].indices {
                guard let value = pages[page][place] else { continue }
                if isUnwanted(value) {
                    pages[page][place] = nil
                    count -= 1
                } else {
                    left += 1
                }
            }
            if left == 0 { pages[page] = [] }
        }
    }

    mutating func removeAll() { self = IdentityTable() }

    private static func place(of number: UInt32) -> (page: Int, place: Int) {
        (Int(number) / pageSize, Int(number) % pageSize)
    }

    private mutating func makeRoom(in page: Int) {
        if page >= pages.count { pages.append(contentsOf: repeatElement([], count: page + 1 - pages.count)) }
        if pages[page].isEmpty { pages[page] = [Value?](repeating: nil, count: Self.pageSize) }
    }
}

extension IdentityTable: Sendable where Value: Sendable {}
