/// All places of many literals in a text, in one pass over its bytes (Aho and Corasick's automaton).
///
/// A dense table over classes of bytes. States are numbered breadth-first, so that the few near the root, where a
/// text spends its time, share cache lines.
struct Automaton: Sendable {
    /// Bytes that occur in no literal share a class, 0.
    private var classes = [UInt8](repeating: 0, count: 256)
    private var width = 1
    /// Row of the next state, times two; odd if a literal ends there.
    private var table: [UInt32] = []
    /// The literal that ends in a state, or -1.
    private var ending: [Int32] = []
    /// The next shorter end of the same text where a literal ends too, or -1.
    private var shorter: [Int32] = []

    /// The literals must differ and must not be empty. Occurrences name them by `numbers`, or by their place.
    init(_ literals: [[UInt8]], numbers: [Int32]? = nil) {
        guard !literals.isEmpty else { return }
        var isUsed = [Bool](repeating: false, count: 256)
        for literal in literals {
            for byte in literal { isUsed[Int(byte)] = true }
        }
        // UTF-8 never uses all bytes; if somebody does, no class is needed for the rest.
        width = isUsed.allSatisfy(\.self) ? 0 : 1
        for byte in 0..<256 where isUsed[byte] {
            classes[byte] = UInt8(width)
            width += 1
        }
        finish(Trie(literals, numbers ?? Array(0..<Int32(literals.count)), classes, width))
    }

    var isEmpty: Bool { table.isEmpty }

    /// Appends every occurrence: the literal's number and the byte after it.
    func scan(_ text: UnsafeBufferPointer<UInt8>, into found: inout [Occurrence]) {
        guard !table.isEmpty else { return }
        classes.withUnsafeBufferPointer { classes in
            table.withUnsafeBufferPointer { table in
                var row: UInt32 = 0
                for i in 0..<text.count {
                    let next = table[Int(row) &+ Int(classes[Int(text[i])])]
                    row = next >> 1
                    if next & 1 != 0 { report(Int(row) / width, end: i + 1, into: &found) }
                }
            }
        }
    }

    @inline(never)
    private func report(_ state: Int, end: Int, into found: inout [Occurrence]) {
        var state = state
        if ending[state] < 0 { state = Int(shorter[state]) }
        while state >= 0 {
            found.append(Occurrence(literal: ending[state], end: Int32(end)))
            state = Int(shorter[state])
        }
    }

    /// Numbers the trie's nodes breadth-first and fills in where a text goes on that leaves the trie.
    private mutating func finish(_ trie: Trie) {
        let count = trie.ending.count
        var order: [Int32] = [0]
        order.reserveCapacity(count)
        var number = [Int32](repeating: 0, count: count)
        var fallback = [Int32](repeating: 0, count: count)  // by new number
        ending = [Int32](repeating: -1, count: count)
        shorter = [Int32](repeating: -1, count: count)
        var next = [Int32](repeating: 0, count: count * width)  // by new number
        var state = 0
        while state < order.count {
            let node = Int(order[state])
            ending[state] = trie.ending[node]
            let back = Int(fallback[state])
            if state > 0 { shorter[state] = ending[back] >= 0 ? Int32(back) : shorter[back] }
            for symbol in 0..<width {
                let child = Int(trie.children[node * width + symbol])
                // Shallower states are complete, so one step back is enough.
                let otherwise = state == 0 ? 0 : next[back * width + symbol]
                if child == 0 {
                    next[state * width + symbol] = otherwise
                } else {
                    let new = Int32(order.count)
                    order.append(Int32(child))
                    number[child] = new
                    fallback[Int(new)] = otherwise
                    next[state * width + symbol] = new
                }
            }
            state += 1
        }
        table = next.map { target in
            let ends = ending[Int(target)] >= 0 || shorter[Int(target)] >= 0
            return UInt32(target) &* UInt32(width) << 1 | (ends ? 1 : 0)
        }
    }
}

/// A literal found: its number, and the byte after it.
struct Occurrence: Sendable, Hashable {
    var literal: Int32
    var end: Int32
}

/// The literals as a tree, numbered as they came.
private struct Trie {
    var children: [Int32]
    var ending: [Int32] = [-1]

    init(_ literals: [[UInt8]], _ numbers: [Int32], _ classes: [UInt8], _ width: Int) {
        children = [Int32](repeating: 0, count: width)
        for (literal, number) in zip(literals, numbers) {
            var node = 0
            for byte in literal {
                let edge = node * width + Int(classes[Int(byte)])
                if children[edge] == 0 {
                    children[edge] = Int32(ending.count)
                    ending.append(-1)
                    children.append(contentsOf: repeatElement(0, count: width))
                }
                node = Int(children[edge])
            }
            ending[node] = number
        }
    }
}
