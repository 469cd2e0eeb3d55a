/// What stands beside what in an expression, through its groups, alternatives and repetitions.
struct RegexNeighbours {
    private enum Token: Equatable {
        /// One letter or a class of them; whether some of it is not ASCII.
        case letter(isForeign: Bool)
        /// `\b`, `\w` or `\d`, and where it stands in the source.
        case asciiClass(Int)
        case open, close, bar
    }

    private var tokens: [Token] = []
    /// Of each parenthesis the other one, and of each bar the one that closes its group.
    private var ends: [Int: Int] = [:]
    /// Of each bar the parenthesis that opens its group.
    private var starts: [Int: Int] = [:]
    /// The bars of a group by each of its parentheses.
    private var bars: [Int: [Int]] = [:]

    init(_ source: [UInt8]) {
        var i = 0
        while i < source.count { i += read(source, at: i) }
        pair()
    }

    /// Where `\b`, `\w` and `\d`, which know ASCII only, stand beside a letter that is not.
    var asciiClassesBesideLetters: [Int] {
        tokens.indices.compactMap { index in
            guard case .asciiClass(let offset) = tokens[index] else { return nil }
            var (before, behind) = (Set<Int>(), Set<Int>())
            return isForeign(before: index, &before) || isForeign(behind: index, &behind) ? offset : nil
        }
    }

    /// Adds what begins there, and tells how many bytes it has.
    private mutating func read(_ source: [UInt8], at i: Int) -> Int {
        let next = i + 1 < source.count ? source[i + 1] : 0
        switch source[i] {
        case UInt8(ascii: "\\") where next == UInt8(ascii: "Q"):
            let width = RegexSyntax.quotedWidth(source, from: i)
            var quoted = source[(i + 2)..<(i + width)]
            if quoted.suffix(2) == [UInt8(ascii: "\\"), UInt8(ascii: "E")] { quoted = quoted.dropLast(2) }
            for byte in [quoted.first, quoted.last] {
                if let byte { tokens.append(.letter(isForeign: byte >= 0x80)) }
            }
            return width
        case UInt8(ascii: "\\"):
            switch next {
            case UInt8(ascii: "b"), UInt8(ascii: "B"), UInt8(ascii: "w"), UInt8(ascii: "W"),
                UInt8(ascii: "d"), UInt8(ascii: "D"):
                tokens.append(.asciiClass(i))
            case UInt8(ascii: "p"):
                tokens.append(.letter(isForeign: true))
                if i + 2 < source.count, source[i + 2] != UInt8(ascii: "{") { return 3 }
            default: tokens.append(.letter(isForeign: false))
            }
            return min(2, source.count - i)
        case UInt8(ascii: "["):
            let width = RegexSyntax.classWidth(source, from: i)
            let inside = source[i..<(i + width)]
            let isForeign =
                next != UInt8(ascii: "^")
                && (inside.contains { $0 >= 0x80 }
                    || zip(inside, inside.dropFirst()).contains {
                        $0 == UInt8(ascii: "\\") && $1 == UInt8(ascii: "p")
                    })
            tokens.append(.letter(isForeign: isForeign))
            return width
        case UInt8(ascii: "(") where next == UInt8(ascii: "?"):
            // Flags alone stand between nothing.
            let ends = [UInt8(ascii: ":"), UInt8(ascii: ">"), UInt8(ascii: ")")]
            let end = source[i...].firstIndex { ends.contains($0) } ?? source.count - 1
            if source[end] != UInt8(ascii: ")") { tokens.append(.open) }
            return end + 1 - i
        case UInt8(ascii: "("): tokens.append(.open)
        case UInt8(ascii: ")"): tokens.append(.close)
        case UInt8(ascii: "|"): tokens.append(.bar)
        case UInt8(ascii: "{"):
            // How often, or the name of a class.
            if let end = source[i...].firstIndex(of: UInt8(ascii: "}")) { return end + 1 - i }
            tokens.append(.letter(isForeign: false))
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): break
        default: tokens.append(.letter(isForeign: source[i] >= 0x80))
        }
        return 1
    }

    private mutating func pair() {
        var open: [Int] = []
        for (index, token) in tokens.enumerated() {
            switch token {
            case .open: open.append(index)
            case .bar:
                guard let start = open.last else { continue }
                starts[index] = start
                bars[start, default: []].append(index)
            case .close:
                guard let start = open.popLast() else { continue }
                ends[start] = index
                starts[index] = start
                bars[index] = bars[start]
                for bar in bars[start] ?? [] { ends[bar] = index }
            default: break
            }
        }
    }

    /// Whether a letter that is not ASCII can come directly behind a token.
    private func isForeign(behind index: Int, _ seen: inout Set<Int>) -> Bool {
        let next = index + 1
        guard next < tokens.count, seen.insert(next).inserted else { return false }
        switch tokens[next] {
        case .letter(let isForeign): return isForeign
        case .asciiClass: return false
        case .open:
            if isForeign(behind: next, &seen) { return true }
            return (bars[next] ?? []).contains { isForeign(behind: $0, &seen) }
        case .close: return isForeign(behind: next, &seen)
        case .bar: return ends[next].map { isForeign(behind: $0, &seen) } ?? false
        }
    }

    /// Whether one can come directly before it.
    private func isForeign(before index: Int, _ seen: inout Set<Int>) -> Bool {
        let next = index - 1
        guard next >= 0, seen.insert(next).inserted else { return false }
        switch tokens[next] {
        case .letter(let isForeign): return isForeign
        case .asciiClass: return false
        case .close:
            if isForeign(before: next, &seen) { return true }
            return (bars[next] ?? []).contains { isForeign(before: $0, &seen) }
        case .open: return isForeign(before: next, &seen)
        case .bar: return starts[next].map { isForeign(before: $0, &seen) } ?? false
        }
    }
}
