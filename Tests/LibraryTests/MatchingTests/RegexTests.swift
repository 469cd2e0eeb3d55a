import Seeds
import Testing
import Unicode

@testable import Matching

@Suite struct Regexes {
    @Test func `groups are found by name`() throws {
        let regex = try Regex(#"(?i)^(?:thanks|thank you|ty)[ ,]+@(?<who>[\p{L}\p{N}_.-]{1,64})"#)
        let text = "ty, @chö!"
        let match = try #require(regex.firstMatch(in: text))
        #expect(regex.groupNames == ["who"])
        #expect(match.range == 0..<9)
        #expect(match["who"] == 5..<9)
        #expect(match["nobody"] == nil)
        #expect(regex.matches("Thanks @ben!"))
        #expect(!regex.matches("thanks all"))
        #expect(!regex.matches("no thanks @ben"))
    }

    @Test func `a group that took no part has no place`() throws {
        let match = try #require(try Regex("(?<a>x)|(?<b>y)()").firstMatch(in: "zy"))
        #expect(match.range == 1..<2)
        #expect(match.groups == [nil, 1..<2, 2..<2])
    }

    @Test func `alternatives may name their groups alike`() throws {
        let match = try #require(try Regex("(?<n>x)1|(?<n>y)2").firstMatch(in: "zy2"))
        #expect(match["n"] == 1..<2)
    }

    @Test func `more groups than fit on the stack`() throws {
        let match = try #require(
            try Regex(String(repeating: "(.)", count: 12)).firstMatch(in: "abcdefghijkl"))
        #expect(match.groups.count == 12)
        #expect(match.groups.last == 11..<12)
    }

    @Test(arguments: [
        ("a(?=b)", 1), ("(?!b)", 0), ("x(?<=b)", 1), ("(?<!b)c", 0), ("(?>a)", 0), (#"(a)\1"#, 3),
        (#"(?<n>a)\k<n>"#, 7), ("(?P<n>a)(?P=n)", 8),
    ])
    func `what needs backtracking is refused in our words`(_ source: String, _ offset: Int) {
        #expect(
            throws: RegexError(
                text: "look-around and back-references are not supported (linear-time engine)", offset: offset
            )
        ) { try Regex(source) }
    }

    @Test(arguments: [
        #"\(?=a"#, #"[(?=]"#, #"[]\1(?!]x"#.replacing(#"\1"#, with: ""), #"\Q(?<=\E"#, #"\\(1)"#,
        "[[:alpha:](?!]",
    ])
    func `what only looks like it is not`(_ source: String) throws {
        _ = try Regex(source)
    }

    @Test(
        arguments: [
            ("(abc", "missing ): (abc", 0),
            ("a)", "unexpected ): a)", 0),
            ("x[b-a]", "invalid character class range: b-a", 2),
            ("a**", "bad repetition operator: **", 1),
            ("a{1001}", "more than 1,000 repeats: {1001}", 1),
            ("(?<é", "invalid named capture group: (?<é", 0),
            (#"\pX"#, #"invalid character class range: \pX"#, 0),
            (#"a\C"#, #""\C" is not supported: it would cut letters in two"#, 1),
            ("", "an empty regex would match every text", 0),
        ] as [(String, String, Int?)])
    func `mistakes are told with their place`(_ source: String, _ text: String, _ offset: Int?) {
        #expect(throws: RegexError(text: text, offset: offset)) { try Regex(source) }
    }

    @Test(arguments: [#"((\pL{100}){10}){1}\pN{900}\pL{900}"#, #"[\p{L}\p{N}]{1,200}"#, #"\pL{300}x"#])
    func `an expression that would take tens of megabytes is refused, and what to do is told`(
        _ source: String
    ) {
        #expect(
            throws: RegexError(
                text: "the regex is too large", offset: nil,
                hint:
                    "each repeat is compiled anew, of \\p{L} with all letters there are: write + for {1,200} and bound the text by length:, or shorten the repeats"
            )
        ) {
            try Regex(source)
        }
    }

    @Test func `where there is no room left only small expressions are taken`() throws {
        let name = #"^(?<who>[\p{L}\p{N}_.-]{1,64})$"#
        #expect(try Regex(name).isLarge)
        #expect(throws: RegexError.self) { try Regex(name, mayBeLarge: false) }
        for source in [
            "a+b", ".{100}", #"(?i)\bwhat version (?:of|is) (?<product>[a-z]{3,20})\b"#, ".{1000}",
        ] {
            #expect(try !Regex(source, mayBeLarge: false).isLarge)
        }
    }

    @Test(arguments: [
        ("a{2}b{0,3}c{4,}d", "a+b*c+d"), (#"\{2}[x{3}]{4}"#, #"\{2}[x{3}]+"#),
        (#"\p{L}{1,5}\x{10}{2}?"#, #"\p{L}+\x{10}+?"#), (#"\Qa{2}\E{3}"#, #"\Qa{2}\E+"#),
        ("a{,5}b{x}c{", "a{,5}b{x}c{"), (#"é{2}\"#, #"é+\"#),
    ])
    func `what must occur is looked for in an expression without counted repeats`(
        _ source: String, _ loose: String
    ) throws {
        #expect(String(decoding: try RegexSyntax(source).loosePattern, as: UTF8.self) == loose)
    }

    @Test func `long repeats are found by what must occur beside them`() throws {
        let regexes = try [
            #"(?i)thanks @[\p{L}\p{N}_.-]{1,64}!"#, "(ab){300}x", "qu.{400}z", "[0-9]{3,200}-[0-9]{2,300}end",
        ].map { try Regex($0) }
        let set = PatternSet(regexes: regexes.map { ($0, .original) })
        var scratch = ScanScratch()
        func found(_ text: String) -> [Int] {
            var folded = FoldedText()
            folded.fold(text, to: .plain)
            set.scan(folded, of: text, using: &scratch)
            return scratch.regexes
        }
        #expect(set.regexesWithoutLiteral == [])
        #expect(found("THANKS @Žofie!") == [0])
        #expect(found(String(repeating: "ab", count: 300) + "x") == [1])
        #expect(found(String(repeating: "ab", count: 299) + "x") == [])
        #expect(found("qu" + String(repeating: "é", count: 400) + "z") == [2])
        #expect(found("0123-4567end") == [3])
        #expect(found("nothing of it") == [])
    }

    @Test func `a thousand characters are enough`() throws {
        _ = try Regex(String(repeating: "é", count: 1_000))
        #expect(
            throws: RegexError(text: "a regex may have 1,000 characters, this one has 1001", offset: 1_000)
        ) {
            try Regex(String(repeating: "é", count: 1_001))
        }
    }

    @Test func `an expression that nothing satisfies is noticed`() throws {
        #expect(try Regex("a*").matchesEmptyText)
        #expect(try !Regex("a+").matchesEmptyText)
    }

    @Test func `ASCII classes beside other letters are noticed`() throws {
        #expect(try Regex(#"\bживот\b and \bcat\b"#).asciiClassesBesideLetters == [0, 12])
        #expect(try Regex(#"\w+ é"#).asciiClassesBesideLetters == [])
    }

    @Test(arguments: [
        (#"[а-я]+\b"#, 1), (#"\b[а-я]{2,5}"#, 1), (#"(?i)\b(?:hi|привет)\b"#, 2), (#"\p{L}+\b"#, 1),
        (#"\b(?<word>[\p{L}\p{N}]+)"#, 1), (#"\b(a|(b|é))?c"#, 1), (#"(é|a)|\bc"#, 0), (#"\pL\b"#, 1),
        (#"é|\bc"#, 0), (#"(x\b|y)é"#, 1), (#"\Qé\E\d"#, 1), (#"[^é]\b"#, 0), (#"[a-z]+\b é"#, 0),
        (#"(?:hi|hello)\b"#, 0), (#"\P{L}\b"#, 0), (#"[[:alpha:]]\b"#, 0),
    ])
    func `an ascii class is found beside a foreign letter through classes, groups and repetitions`(
        _ source: String, _ count: Int
    ) throws {
        #expect(try Regex(source).asciiClassesBesideLetters.count == count)
    }

    @Test func `groups within groups are looked through in no time`() throws {
        let source = String(repeating: "(|", count: 150) + #"\b"# + String(repeating: ")", count: 150)
        #expect(
            try Regex(source + String(repeating: "(|)", count: 150) + "é").asciiClassesBesideLetters == [300])
    }

    @Test(arguments: [
        ("Buy Now", FoldLevel.plain, "Buy Now", "buy now"), ("(?i)buy|Straße", .plain, "Straße", "strasse"),
        ("café", .loose, "café", "cafe"), (#"\bb4d\b"#, .loose, "b4d", "bad"),
        ("don’t", .plain, "don’t", "don't"),
        (#"(?<x>[a-z]+) fi(?:ﬁ|x)"#, .plain, "ﬁ", "fi"), ("a  b", .squeezed, "a  b", "a b"),
        (#"v1\.b"#, .loose, "v1.b", "vi.b"),
        ("ÉE\u{301}", .exact, "ÉE\u{301}", "ÉÉ"),
    ])
    func `letters that the fold leaves in no text are noticed, with what it makes of them`(
        _ source: String, _ level: FoldLevel, _ written: String, _ folded: String
    ) throws {
        let found = try Regex(source).neverFolded(to: level)
        #expect(found?.written == written && found?.folded == folded, "\(String(describing: found))")
    }

    @Test(arguments: [
        ("(?i)Buy Now", FoldLevel.plain), ("buy now", .plain), ("[A-Z]+ café", .plain),
        (#"\Qa\E\p{Lu}\x{41}\D"#, .plain),
        ("(?i:É)", .plain), ("24[a-z]{2,4}", .loose), (#"fr33?|b[4a]d"#, .exact), ("Z", .exact),
        ("(?<Name>x)", .plain),
        ("(?i)Σς", .plain), ("cafe É?x*", .loose),
    ])
    func `an expression that folded texts can match is left alone`(_ source: String, _ level: FoldLevel)
        throws
    {
        let found = try Regex(source).neverFolded(to: level)
        #expect(found == nil, "\(String(describing: found))")
    }

    @Test(.timeLimit(.minutes(1))) func `no text freezes an expression`() throws {
        for (source, text) in [
            ("(a+)+$", String(repeating: "a", count: 50_000) + "!"),
            ("(a|aa)+$", String(repeating: "a", count: 50_000) + "!"),
            ("(.*)(.*)(.*)(.*)x", String(repeating: "a", count: 50_000)),
            ("(a?){500}a{500}$", String(repeating: "a", count: 50_000) + "!"),
        ] {
            let regex = try Regex(source)
            let start = ThreadTime.now
            #expect(!regex.matches(text))
            #expect(ThreadTime.now - start < .milliseconds(500), "\(source)")
        }
    }

    @Test func `random bytes never harm the compiler`() {
        var random = SeededRandom(seed: 9)
        let parts =
            Array("()[]{}|*+?^$.\\QE123,:<>=!PpLbwé\u{301}ab-i#&k\0 ").map(String.init) + [
                "(?", "(?<", "(?P<n>",
            ]
        var compiled = 0
        for _ in 0..<20_000 {
            let source = random.text(from: parts, upTo: 24)
            do {
                let regex = try Regex(source)
                compiled += 1
                _ = regex.firstMatch(in: "some text é (?<1>)")
            } catch {
                #expect(!error.text.isEmpty)
                #expect((error.offset ?? 0) <= source.utf8.count)
            }
        }
        #expect(compiled > 100)
    }
}

@Suite struct RegexesOfASet {
    @Test func `only candidates are run, and all that match are told`() throws {
        let set = PatternSet(
            phrases: [Phrase("hello")],
            regexes: [
                (try Regex("(?i)buy.*now"), .original), (try Regex("BUY"), .original),
                (try Regex("[0-9]{4}"), .original), (try Regex("buy +now"), .folded),
                (try Regex("straße"), .original),
            ])
        #expect(set.regexesWithoutLiteral == [2])
        #expect(matched(set, "Hello, buy   it NOW") == [0])
        #expect(matched(set, "BUY   now") == [0, 1, 3])
        #expect(matched(set, "code 1234") == [2])
        #expect(matched(set, "keine straße, BUY") == [1, 4])
        #expect(matched(set, "nothing") == [])
    }

    @Test func `a set says what each expression says alone`() throws {
        var random = SeededRandom(seed: 13)
        let sources = [
            "(?i)k+m", "ſ", "(?i)ſs", "a  b", #"a\s+b"#, "ab?c", "[aA]b", "(?i)é.*ж", "İ", "(?i)i̇x", "ka|mb",
            "^ab", "b$",
            "(?i)ß", "(?i)ΣΑ", "\u{212A}", "你好", "a\u{301}", "[^a]b", "(ab|ba){2}", "Ꭰ", "(?i)ꭰx", "x{0,2}y",
            "  ",
        ]
        let parts = [
            "a", "b", "c", "A", "B", "k", "K", "\u{212A}", "m", "ſ", "s", "S", " ", "  ", "\t", "é", "É",
            "e\u{301}",
            "ж", "Ж", "İ", "i̇", "x", "X", "y", "ß", "ẞ", "σ", "ς", "α", "你", "好", "\u{301}", "Ꭰ", "ꭰ",
            "\u{200B}",
        ]
        for level in FoldLevel.allCases {
            for sees in [PatternSet.Subject.original, .folded] {
                let regexes = try sources.map { (regex: try Regex($0), sees: sees) }
                let set = PatternSet(
                    level: level, phrases: [Phrase("ab"), Phrase("a", .anywhere)], regexes: regexes)
                for _ in 0..<1_500 {
                    let text = random.text(from: parts, upTo: 10)
                    let subject = sees == .original ? text : text.folded(to: level)
                    let expected = regexes.indices.filter { regexes[$0].regex.matches(subject) }
                    #expect(matched(set, text) == expected, "\(level) \(sees) \(text.debugDescription)")
                }
            }
        }
    }

    @Test func `any number of tasks may use one set`() async throws {
        let words = (0..<600).map { number in
            String(number).compactMap(\.wholeNumberValue).map { String(UnicodeScalar(UInt8(97 + $0))) }
                .joined(separator: "x") + "word"
        }
        let set = PatternSet(
            level: .loose, phrases: words.map { Phrase($0) } + [Phrase("你好")],
            regexes: [(try Regex("(?i)b(?<x>u)y"), .original), (try Regex("[0-9]x"), .original)])
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var scratch = ScanScratch()
                    for round in 0..<200 {
                        let text = "Buy 你好世界 раypal \(words[(task * 200 + round) % 600]) \(round % 10)x"
                        set.scan(FoldedText(text, to: .loose), of: text, using: &scratch)
                        #expect(scratch.regexes == [0, 1])
                        #expect(scratch.hits.count == 2)
                    }
                }
            }
        }
    }

    private func matched(_ set: PatternSet, _ text: String) -> [Int] {
        var scratch = ScanScratch()
        set.scan(FoldedText(text, to: set.level), of: text, using: &scratch)
        return scratch.regexes
    }
}
