internal import CRE2

/// A regular expression that takes time in proportion to the text, whatever the expression and whatever the text.
///
/// RE2's syntax, with named groups written `(?<name>…)`; `\b`, `\w`, `\d` and `\s` are ASCII.
package struct Regex: Sendable {
    package let source: String
    /// The names of the groups, nil for those without; group 1 is the first.
    package let groupNames: [String?]
    /// Where `\b`, `\w`, `\d` or their opposites stand beside a letter that is not ASCII (bytes of `source`).
    package let asciiClassesBesideLetters: [Int]
    let compiled: CompiledRegex

    /// `mayBeLarge`: false refuses what takes megabytes.
    package init(_ source: String, mayBeLarge: Bool = true) throws(RegexError) {
        let syntax = try RegexSyntax(source)
        self.source = source
        compiled = try CompiledRegex(syntax, mayBeLarge: mayBeLarge)
        groupNames = compiled.groupNames()
        asciiClassesBesideLetters = syntax.asciiClassesBesideLetters
    }

    /// Whether the expression is satisfied by nothing at all, and so, unless anchored, by every text.
    package var matchesEmptyText: Bool { matches("") }

    /// How many instructions the compiled expression has; a text takes time in proportion to this at worst.
    package var size: Int { compiled.size }

    /// Whether it takes far more memory than most; an instruction takes about 90 bytes.
    package var isLarge: Bool { size > CompiledRegex.largeProgram }

    package func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        compiled.match(text, groups: 0) != nil
    }

    /// The leftmost match with its groups. It costs five times what `matches` does.
    package func firstMatch(in text: String) -> RegexMatch? {
        var text = text
        return text.withUTF8 { firstMatch(in: $0) }
    }

    package func firstMatch(in text: UnsafeBufferPointer<UInt8>) -> RegexMatch? {
        guard let ranges = compiled.match(text, groups: groupNames.count + 1), let whole = ranges.first else {
            return nil
        }
        return RegexMatch(range: whole ?? 0..<0, groups: Array(ranges.dropFirst()), names: groupNames)
    }
}

/// Where an expression matched; all ranges are bytes of the text's UTF-8.
package struct RegexMatch: Sendable, Equatable {
    package let range: Range<Int>
    /// Nil for a group that took no part.
    package let groups: [Range<Int>?]
    let names: [String?]

    /// Of several groups with one name, the first that took part.
    package subscript(name: String) -> Range<Int>? {
        zip(names, groups).lazy.compactMap { $0 == name ? $1 : nil }.first
    }
}

/// What is wrong with an expression.
package struct RegexError: Error, Equatable, CustomStringConvertible {
    package let text: String
    /// The byte of the source it is about.
    package let offset: Int?
    /// What helps, if it is not plain.
    package let hint: String?

    package init(text: String, offset: Int?, hint: String? = nil) {
        self.text = text
        self.offset = offset
        self.hint = hint
    }

    package var description: String { text }
}

/// RE2's object; it frees itself.
///
/// `@unchecked Sendable`: RE2 objects may be used by any number of threads at once.
final class CompiledRegex: @unchecked Sendable {
    /// Bytes that a program and its automaton may take, as RE2 counts them. Most expressions need little; long repeats
    /// need much, so the larger size is tried only after the smaller.
    private static let budgets: [Int64] = [1 << 20, 4 << 20]
    /// A program with more instructions would use up the smaller budget for its automaton and then crawl.
    private static let smallProgram = 500
    static let largeProgram = 10_000
    /// Twelve megabytes, of which RE2 counts a fifth; to compile them takes a quarter of a second.
    private static let largestProgram = 130_000

    /// What its literals are taken from: the expression, or a looser one where the program is no small one, which need
    /// not take the memory twice.
    let patterns: [[UInt8]]
    let budget: Int64
    private let regex: OpaquePointer

    init(_ syntax: RegexSyntax, mayBeLarge: Bool) throws(RegexError) {
        var error = CRE2Error()
        for budget in mayBeLarge ? Self.budgets : Array(Self.budgets.prefix(1)) {
            guard let regex = cre2_compile(syntax.pattern, syntax.pattern.count, budget, &error) else {
                if error.too_large { continue } else { break }
            }
            let size = cre2_program_size(regex)
            if size > (mayBeLarge ? Self.largestProgram : Self.largeProgram) {
                error.too_large = true
            } else if size <= Self.smallProgram || budget != Self.budgets[0] || !mayBeLarge {
                patterns =
                    size > Self.smallProgram ? [syntax.loosePattern, syntax.pattern] : [syntax.pattern]
                self.budget = budget
                self.regex = regex
                return
            }
            cre2_free(regex)
        }
        let message = withUnsafeBytes(of: error.message) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        throw RegexError(
            text: error.too_large ? "the regex is too large" : Self.inOurWords(message),
            offset: error.offset < 0 ? nil : syntax.sourceOffset(of: Int(error.offset)),
            hint: error.too_large ? Self.wayOut : nil)
    }

    deinit { cre2_free(regex) }

    /// What helps when an expression, or all of them together, are too large.
    static let wayOut =
        "each repeat is compiled anew, of \\p{L} with all letters there are: write + for {1,200} and bound the text by length:, or shorten the repeats"

    /// RE2's words name the part at fault as it was rewritten.
    private static func inOurWords(_ message: String) -> String {
        var message = message
        if let place = message.firstRange(of: "(?P<") { message.replaceSubrange(place, with: "(?<") }
        if message.hasPrefix("invalid repetition size") {
            message = "more than 1,000 repeats" + message.dropFirst(23)
        }
        return message
    }

    var size: Int { Int(cre2_program_size(regex)) }

    func groupNames() -> [String?] {
        let count = cre2_group_count(regex)
        return count < 1 ? [] : (1...count).map { cre2_group_name(regex, $0).map { String(cString: $0) } }
    }

    /// The whole match and the first groups; an empty list if none were asked for. Nil if there is no match.
    func match(_ text: UnsafeBufferPointer<UInt8>, groups count: Int) -> [Range<Int>?]? {
        if count == 0 { return cre2_match(regex, text.baseAddress, text.count, nil, 0) ? [] : nil }
        var ranges = [CRE2Range](repeating: CRE2Range(start: -1, end: -1), count: count)
        guard cre2_match(regex, text.baseAddress, text.count, &ranges, Int32(count)) else { return nil }
        return ranges.map { $0.start < 0 ? nil : Int($0.start)..<Int($0.end) }
    }
}
