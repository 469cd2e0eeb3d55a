package import Unicode

/// The runs of letters that an expression asks for as they stand, one beside the other.
struct RegexLiterals {
    private(set) var runs: [(text: String, isCaseless: Bool)] = []
    private var run: [UInt8] = []
    private var isCaseless = false

    init(_ source: String) {
        let bytes = Array(source.utf8)
        var i = 0
        while i < bytes.count { i += read(bytes, at: i) }
        end()
    }

    private mutating func end() {
        if !run.isEmpty { runs.append((String(decoding: run, as: UTF8.self), isCaseless)) }
        run.removeAll()
    }

    /// Takes what begins there, and tells how many bytes it has.
    private mutating func read(_ source: [UInt8], at i: Int) -> Int {
        let next = i + 1 < source.count ? source[i + 1] : 0
        switch source[i] {
        case UInt8(ascii: "\\") where next == UInt8(ascii: "Q"):
            end()
            return RegexSyntax.quotedWidth(source, from: i)
        case UInt8(ascii: "\\") where next < 0x80 && !Self.isAlphanumeric(next):
            run.append(next)
            return 2
        case UInt8(ascii: "\\"):
            end()
            guard next | 32 == UInt8(ascii: "p") || next == UInt8(ascii: "x"), i + 2 < source.count else {
                return 2
            }
            guard source[i + 2] == UInt8(ascii: "{") else { return next == UInt8(ascii: "x") ? 4 : 3 }
            return (source[i...].firstIndex(of: UInt8(ascii: "}")) ?? source.count - 1) + 1 - i
        case UInt8(ascii: "["):
            end()
            return RegexSyntax.classWidth(source, from: i)
        case UInt8(ascii: "(") where next == UInt8(ascii: "?"):
            end()
            let ends = [UInt8(ascii: ":"), UInt8(ascii: ">"), UInt8(ascii: ")")]
            let end = source[i...].firstIndex { ends.contains($0) } ?? source.count - 1
            if source[end] != UInt8(ascii: ">"), source[i...end].contains(UInt8(ascii: "i")) {
                isCaseless = true
            }
            return end + 1 - i
        case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "+"), UInt8(ascii: "{"):
            // What is repeated, or may be missing, stands beside nothing for sure.
            while let last = run.popLast(), last & 0xC0 == 0x80 {}
            end()
            guard source[i] == UInt8(ascii: "{") else { return 1 }
            return (source[i...].firstIndex(of: UInt8(ascii: "}")) ?? i) + 1 - i
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "|"), UInt8(ascii: "^"), UInt8(ascii: "$"),
            UInt8(ascii: "."):
            end()
        default: run.append(source[i])
        }
        return 1
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- 48 < 10 || (byte | 32) &- 97 < 26
    }
}

extension Regex {
    /// What it asks for and no folded text has, and what such a text has in its place.
    package func neverFolded(to level: FoldLevel) -> (written: String, folded: String)? {
        // What is squeezed hangs on what stands beside it.
        let level = level == .squeezed ? .loose : level
        for run in RegexLiterals(source).runs {
            let folded = run.text.folded(to: level)
            let isSame =
                run.isCaseless
                ? run.text.caseless == folded.caseless : run.text.utf8.elementsEqual(folded.utf8)
            if !isSame {
                return (run.text, folded)
            }
        }
        return nil
    }
}

extension String {
    fileprivate var caseless: [UInt8] {
        var (text, out): (String, [UInt8]) = (self, [])
        text.withUTF8 { foldCase($0, into: &out) }
        return out
    }
}
