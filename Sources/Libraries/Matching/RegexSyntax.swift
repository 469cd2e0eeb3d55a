/// An expression as we write it, and as RE2 wants it.
struct RegexSyntax {
    private(set) var pattern: [UInt8] = []
    let asciiClassesBesideLetters: [Int]
    /// Where in `pattern` a byte was put in that `source` has not.
    private var inserted: [Int] = []

    static let noBacktracking = "look-around and back-references are not supported (linear-time engine)"

    init(_ source: String) throws(RegexError) {
        let length = source.unicodeScalars.count
        guard length > 0 else { throw RegexError(text: "an empty regex would match every text", offset: 0) }
        guard length <= 1_000 else {
            throw RegexError(text: "a regex may have 1,000 characters, this one has \(length)", offset: 1_000)
        }
        let bytes = Array(source.utf8)
        asciiClassesBesideLetters = RegexNeighbours(bytes).asciiClassesBesideLetters
        try translate(bytes)
    }

    func sourceOffset(of offset: Int) -> Int {
        offset - inserted.count { $0 < offset }
    }

    /// An expression that matches wherever this one does, and perhaps elsewhere, in a far smaller program: repeats that are
    /// counted go on for ever. What must occur in a text for it must occur for this one, too.
    var loosePattern: [UInt8] {
        var loose: [UInt8] = []
        var i = 0
        while i < pattern.count {
            var width = 1
            switch pattern[i] {
            case UInt8(ascii: "\\"): width = Self.escapeWidth(pattern, from: i)
            case UInt8(ascii: "["): width = Self.classWidth(pattern, from: i)
            case UInt8(ascii: "{"):
                if let (least, repeatWidth) = Self.repeats(pattern, from: i) {
                    loose.append(UInt8(ascii: least == 0 ? "*" : "+"))
                    i += repeatWidth
                    continue
                }
            default: break
            }
            loose += pattern[i..<min(i + width, pattern.count)]
            i += width
        }
        return loose
    }

    /// "\p{L}" and "\x{1F}" as a whole, "\Q…\E" too.
    private static func escapeWidth(_ pattern: [UInt8], from start: Int) -> Int {
        let rest = pattern[start...]
        guard let kind = rest.dropFirst().first else { return 1 }
        if kind == UInt8(ascii: "Q") { return quotedWidth(pattern, from: start) }
        guard "pPx".utf8.contains(kind), rest.dropFirst(2).first == UInt8(ascii: "{"),
            let end = rest.firstIndex(of: UInt8(ascii: "}"))
        else { return 2 }
        return end + 1 - start
    }

    /// How often "{2}", "{2,}" or "{2,5}" asks at least, and how wide it is; nil for what only looks like it.
    private static func repeats(_ pattern: [UInt8], from start: Int) -> (least: Int, width: Int)? {
        guard let end = pattern[start...].firstIndex(of: UInt8(ascii: "}")) else { return nil }
        let text = String(decoding: pattern[(start + 1)..<end], as: UTF8.self)
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (1...2).contains(numbers.count), let least = Int(numbers[0]),
            numbers.count == 1 || numbers[1].isEmpty || Int(numbers[1]) != nil
        else { return nil }
        return (least, end + 1 - start)
    }

    private mutating func translate(_ source: [UInt8]) throws(RegexError) {
        var i = 0
        func rest(_ text: StaticString) -> Bool {
            text.withUTF8Buffer { source[i...].starts(with: $0) }
        }
        while i < source.count {
            let width: Int
            switch source[i] {
            case UInt8(ascii: "\\") where rest("\\Q"):
                width = Self.quotedWidth(source, from: i)
            case UInt8(ascii: "\\"):
                try checkEscape(source, at: i)
                width = min(2, source.count - i)
            case UInt8(ascii: "["):
                width = Self.classWidth(source, from: i)
            case UInt8(ascii: "(") where rest("(?="), UInt8(ascii: "(") where rest("(?!"),
                UInt8(ascii: "(") where rest("(?<="), UInt8(ascii: "(") where rest("(?<!"),
                UInt8(ascii: "(") where rest("(?>"), UInt8(ascii: "(") where rest("(?P="):
                throw RegexError(text: Self.noBacktracking, offset: i)
            case UInt8(ascii: "(") where rest("(?<"):
                pattern.append(contentsOf: [UInt8(ascii: "("), UInt8(ascii: "?")])
                inserted.append(pattern.count)
                pattern.append(UInt8(ascii: "P"))
                i += 2
                width = 1
            default:
                width = 1
            }
            pattern.append(contentsOf: source[i..<i + width])
            i += width
        }
    }

    private func checkEscape(_ source: [UInt8], at i: Int) throws(RegexError) {
        guard i + 1 < source.count else { return }
        switch source[i + 1] {
        case UInt8(ascii: "1")...UInt8(ascii: "9"), UInt8(ascii: "k"):
            throw RegexError(text: Self.noBacktracking, offset: i)
        case UInt8(ascii: "C"):
            throw RegexError(text: #""\C" is not supported: it would cut letters in two"#, offset: i)
        default: break
        }
    }

    /// "\Q…\E", or to the end.
    static func quotedWidth(_ source: [UInt8], from start: Int) -> Int {
        var i = start + 2
        while i < source.count {
            if source[i] == UInt8(ascii: "\\"), i + 1 < source.count, source[i + 1] == UInt8(ascii: "E") {
                return i + 2 - start
            }
            i += 1
        }
        return source.count - start
    }

    /// "[…]", or to the end, where RE2 will say what is missing.
    static func classWidth(_ source: [UInt8], from start: Int) -> Int {
        var i = start + 1
        if i < source.count, source[i] == UInt8(ascii: "^") { i += 1 }
        if i < source.count, source[i] == UInt8(ascii: "]") { i += 1 }
        while i < source.count {
            switch source[i] {
            case UInt8(ascii: "\\"): i += 2
            case UInt8(ascii: "[") where i + 1 < source.count && source[i + 1] == UInt8(ascii: ":"):
                var end = i + 2
                while end + 1 < source.count,
                    source[end] != UInt8(ascii: ":") || source[end + 1] != UInt8(ascii: "]")
                { end += 1 }
                i = end + 1 < source.count ? end + 2 : i + 1
            case UInt8(ascii: "]"): return i + 1 - start
            default: i += 1
            }
        }
        return source.count - start
    }
}
