/// All places of many literals in a text, in one pass over its bytes (Aho and Corasick's automaton).
///
/// A dense table over classes of bytes. States are numbered breadth-first, so that the few near the root, where a
/// text spends its time, share cache lines; those in which a literal ends come last, so that a look at the number
/// tells them.
struct Automaton: Sendable {
    /// Bytes that occur in no literal share a class, 0.
    private var classes = [UInt8](repeating: 0, count: 256)
    private var width = 1
    /// Of the longest literal, in bytes.
    private var longest = 0
    /// Rows of next states; a state is known by the place of its row.
    private var table: [UInt32] = []
    /// The first row of a state in which a literal ends.
    private var firstEnding: UInt32 = 0
    /// The literal that ends in a state of those, or -1 if only shorter ones do.
    private var ending: [Int32] = []
    /// The next shorter end of the same text where a literal ends too, or -1.
    private var shorter: [Int32] = []

    /// The literals must differ and must not be empty. Occurrences name them by `numbers`, or by their place.
    init(_ literals: [[UInt8]], numbers: [Int32]? = nil) {
        guard !literals.isEmpty else { return }
        longest = literals.map(\.count).max() ?? 0
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

    /// Appends every occurrence, in no particular order: the literal's number and the byte after it.
    func scan(_ text: UnsafeBufferPointer<UInt8>, into found: inout [Occurrence]) {
        guard !table.isEmpty else { return }
        let firstEnding = firstEnding
        // Each step waits for the one before. Two halves of a text do not wait for each other; the second begins so much
        // earlier that no literal is cut in two.
        let middle = text.count > 2 * longest + 16 ? (text.count + longest) / 2 : text.count
        let start = middle < text.count ? middle + 1 - longest : text.count
        classes.withUnsafeBufferPointer { classes in
            table.withUnsafeBufferPointer { table in
                var (row, second): (UInt32, UInt32) = (0, 0)
                let both = min(middle, text.count - start)
                for i in 0..<both {
                    row = table[Int(classes[Int(text[i])]) &+ Int(row)]
                    second = table[Int(classes[Int(text[start &+ i])]) &+ Int(second)]
                    if max(row, second) >= firstEnding {
                        if row >= firstEnding { report(row, end: i + 1, into: &found) }
                        let end = start + i + 1
                        if second >= firstEnding, end > middle { report(second, end: end, into: &found) }
                    }
                }
                for i in both..<middle {
                    row = table[Int(classes[Int(text[i])]) &+ Int(row)]
                    if row >= firstEnding { report(row, end: i + 1, into: &found) }
                }
                for i in min(start + both, text.count)..<text.count {
                    second = table[Int(classes[Int(text[i])]) &+ Int(second)]
                    if second >= firstEnding, i + 1 > middle { report(second, end: i + 1, into: &found) }
                }
            }
        }
    }

    @inline(never)
    private func report(_ row: UInt32, end: Int, into found: inout [Occurrence]) {
        var state = (Int(row) - Int(firstEnding)) / width
        while state >= 0 {
            if ending[state] >= 0 { found.append(Occurrence(literal: ending[state], end: Int32(end))) }
            state = Int(shorter[state])
        }
    }

    /// Fills in where a text goes on that leaves the tree, and numbers the states.
    private mutating func finish(_ trie: Trie) {
        let count = trie.ending.count
        // Breadth-first: the nodes in order, and by place in that order all else.
        var order: [Int32] = [0]
        order.reserveCapacity(count)
        var next = [Int32](repeating: 0, count: count * width)
        var fallback = [Int32](repeating: 0, count: count)
        var literal = [Int32](repeating: -1, count: count)
        var endsShorter = [Int32](repeating: -1, count: count)
        var place = 0
        while place < order.count {
            let node = Int(order[place])
            let back = Int(fallback[place])
            literal[place] = trie.ending[node]
            if place > 0 { endsShorter[place] = literal[back] >= 0 ? Int32(back) : endsShorter[back] }
            for symbol in 0..<width {
                let child = trie.children[node * width + symbol]
                // Shallower states are complete, so one step back is enough.
                let otherwise = place == 0 ? 0 : next[back * width + symbol]
                if child == 0 {
                    next[place * width + symbol] = otherwise
                } else {
                    next[place * width + symbol] = Int32(order.count)
                    fallback[order.count] = otherwise
                    order.append(child)
                }
            }
            place += 1
        }
        number(next, literal, endsShorter)
    }

    private mutating func number(_ next: [Int32], _ literal: [Int32], _ endsShorter: [Int32]) {
        let isEnding = literal.indices.map { literal[$0] >= 0 || endsShorter[$0] >= 0 }
        let quiet = isEnding.count { !$0 }
        var number = [Int](repeating: 0, count: isEnding.count)
        var (nextQuiet, nextEnding) = (0, quiet)
        for place in isEnding.indices {
            if isEnding[place] {
                number[place] = nextEnding
                nextEnding += 1
                ending.append(literal[place])
                // Shorter ones come earlier in the order: their number is known.
                shorter.append(endsShorter[place] < 0 ? -1 : Int32(number[Int(endsShorter[place])] - quiet))
            } else {
                number[place] = nextQuiet
                nextQuiet += 1
            }
        }
        firstEnding = UInt32(quiet * width)
        table = [UInt32](repeating: 0, count: next.count)
        for place in isEnding.indices {
            for symbol in 0..<width {
                table[number[place] * width + symbol] = UInt32(
                    number[Int(next[place * width + symbol])] * width)
            }
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
