import Seeds
import Testing
import Unicode

@testable import Matching

@Suite struct PhrasesInTexts {
    @Test(
        arguments: [
            ("heck", "what the HECK", ["HECK"]),
            ("heck", "checkers", []),
            ("heck", "heck, heck. (heck)", ["heck", "heck", "heck"]),
            ("darn", "darning socks", []),
            ("darn", "darn!", ["darn"]),
            ("cunt", "Scunthorpe", []),
            ("kunft", "Zukunft", []),
            ("fuck", "Sky sources", []),
            ("scam", "s\u{200B}c\u{200D}a\u{FEFF}m", ["s\u{200B}c\u{200D}a\u{FEFF}m"]),
            ("scam*", "scammers do scamming", ["scam", "scam"]),
            ("*scam", "superscam scammer", ["scam"]),
            ("*scam*", "unscammable", ["scam"]),
            ("500 error*", "getting 500  errors", ["500  error"]),
            ("500 error*", "500 erroneous claims", []),
            ("don", "don't", []),
            ("don't", "I don't", ["don't"]),
            ("c++", "I like C++ and c++.", ["C++", "c++"]),
            ("@everyone", "hi @everyone!", ["@everyone"]),
            ("ana", "@ana", ["ana"]),
            ("site is down", "the site is   DOWN again", ["site is   DOWN"]),
            ("school", "ＳＣＨＯＯＬ", ["ＳＣＨＯＯＬ"]),
            ("école", "E\u{301}COLE", ["E\u{301}COLE"]),
            ("ecole", "école", []),
            ("мир", "Миру мир!", ["мир"]),
            ("世界", "你好世界", ["世界"]),
            ("你好", "你好世界", ["你好"]),
            ("学生", "私は学生です", ["学生"]),
            ("โลก", "สวัสดีชาวโลก", ["โลก"]),
            ("سلام", "سلام عليكم", ["سلام"]),
            ("שלום", "\u{202B}שלום עולם\u{202C}", ["שלום"]),
            ("👍", "ok 👍👍🏽", ["👍"]),
            ("🇳🇴", "🇳🇴🇸🇪", ["🇳🇴"]),
            ("👨\u{200D}👩\u{200D}👧", "x 👨\u{200D}👩\u{200D}👧", ["👨\u{200D}👩\u{200D}👧"]),
            ("👩", "👩‍🚒 👩🏽‍🚒 👩", ["👩"]),
            ("🚒", "👩‍🚒 🚒", ["🚒"]),
            ("👩‍🚒", "👩‍🚒", ["👩‍🚒"]),
            ("🏳", "🏳️‍🌈 🏳 x", ["🏳"]),
            ("🏳️‍🌈", "🏳️‍🌈 🏳‍🌈", ["🏳️‍🌈", "🏳‍🌈"]),
            ("👩‍👩‍👧", "👩‍👩‍👧‍👦 👩‍👩‍👧", ["👩‍👩‍👧"]),
            ("🏴", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴", ["🏴"]),
            ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿", ["🏴󠁧󠁢󠁥󠁮󠁧󠁿"]),
            ("can't log in", "I can’t log in", ["can’t log in"]),
            ("can’t", "can't CANʼT", ["can't", "CANʼT"]),
            ("e-mail", "my e‐mail, e‑mail", ["e‐mail", "e‑mail"]),
            ("don", "don’t", []),
            ("كتاب", "هذا كتـــاب", ["كتـــاب"]),
            ("كتـاب", "كتاب", ["كتاب"]),
        ] as [(String, String, [String])])
    func `words are found whole, whatever their case and width`(
        _ phrase: String, _ text: String, _ found: [String]
    ) throws {
        #expect(try hits([phrase], in: text) == found)
    }

    @Test(
        arguments: [
            ("paypal", "login to раypal now", ["раypal"]),
            ("paypal", "РАYРАL", ["РАYРАL"]),
            ("paypal", "раураl", ["раураl"]),
            ("scam", "sc4m, $cam, s.cam", ["sc4m"]),
            ("scam", "this_scam_here", ["scam"]),
            ("scam", "free.scam.here", ["scam"]),
            ("cafe", "CAFÉ", ["CAFÉ"]),
            ("хор", "наш хор поёт", ["хор"]),
            ("xop", "наш хор поёт", []),
            ("coco", "сосо", []),
            ("heck", "h̷e̷c̷k̷", ["h̷e̷c̷k̷"]),
            ("cunt", "Scunthorpe", []),
            ("short", "so shooooort!", ["shooooort"]),
            ("shoort", "so shooooort!", ["shooooort"]),
            ("short", "so shoort!", []),
            ("fail", "an epic fai1 and fa1l", ["fai1", "fa1l"]),
            ("hello", "h3l1ooo", ["h3l1ooo"]),
            ("hello*", "hellllllo123", ["hellllllo"]),
            ("fall", "fai1", []),
            ("été", "ÉÉÉTÉÉÉÉ été", ["ÉÉÉTÉÉÉÉ", "été"]),
            ("слово", "плохое cлoвo", ["cлoвo"]),
            ("сука", "ты сукa, cука и cyкa; суkа!", ["сукa", "cука", "cyкa", "суkа"]),
            ("сука", "hey сука", ["сука"]),
            ("сука", "ах ты СУКAAAA", ["СУКAAAA"]),
            ("сука", "сукα", ["сукα"]),
            ("ты сука", "ты cyкa", ["ты cyкa"]),
            ("хор", "our хор", ["хор"]),
            ("sex", "sеeeex", ["sеeeex"]),
            ("μαλακα", "ρε μαλaκα, μαλаκα", ["μαλaκα", "μαλаκα"]),
            ("τυρο", "τyρο τυρo", ["τyρο", "τυρo"]),
            ("كتاب", "كتـــاب", ["كتـــاب"]),
            ("scam", "🅂\u{200D}🅲\u{200D}🅰\u{200D}🅼", ["🅂\u{200D}🅲\u{200D}🅰\u{200D}🅼"]),
        ] as [(String, String, [String])])
    func `loose finds disguised words`(_ phrase: String, _ text: String, _ found: [String]) throws {
        #expect(try hits([phrase], in: text, level: .loose) == found)
    }

    @Test func `a set without members matches nothing`() {
        for level in FoldLevel.allCases {
            let set = PatternSet(level: level)
            #expect(set.isEmpty)
            var scratch = ScanScratch()
            for text in ["", " ", "anything", "ü"] {
                set.scan(FoldedText(text, to: level), of: text, using: &scratch)
                #expect(scratch.hits.isEmpty && scratch.regexes.isEmpty)
            }
        }
    }

    @Test func `a phrase of nothing never matches and is told`() {
        let set = PatternSet(phrases: [Phrase(""), Phrase("ok"), Phrase("\u{200B} \u{AD}", .anywhere)])
        #expect(set.emptyPhrases == [0, 2])
        var scratch = ScanScratch()
        set.scan(FoldedText("ok", to: .plain), of: "ok", using: &scratch)
        #expect(scratch.hits == [PhraseHit(phrase: 1, range: 0..<2)])
    }

    @Test func `equal phrases are each reported`() {
        let set = PatternSet(phrases: [Phrase("Spam"), Phrase("spam", .prefix), Phrase("SPAM", .suffix)])
        var scratch = ScanScratch()
        set.scan(FoldedText("spammer", to: .plain), of: "spammer", using: &scratch)
        #expect(scratch.hits == [PhraseHit(phrase: 1, range: 0..<4)])
        set.scan(FoldedText("a spam", to: .plain), of: "a spam", using: &scratch)
        #expect(scratch.hits.map(\.phrase).sorted() == [0, 1, 2])
    }

    @Test(arguments: ["sc*m", "a*b*", "**"])
    func `a star in the middle is a mistake`(_ written: String) {
        #expect(throws: PhraseError.self) { try Phrase(written: written) }
    }

    @Test func `mistakes in phrases say what to do`() {
        #expect(throws: PhraseError(text: #""*" may only stand at the ends of a word, not as in "sc*m""#)) {
            try Phrase(written: "sc*m")
        }
        #expect(throws: PhraseError(text: #""*" has no letters to look for"#)) { try Phrase(written: "*") }
    }

    @Test func `ten thousand words are found as ten are`() throws {
        var random = SeededRandom(seed: 21)
        let letters = "abcdefghijklmnopqrstuvwxyzéжß1".map(String.init)
        var words: Set<String> = ["don't", "two words", "naïve", "слово", "你好"]
        while words.count < 10_000 {
            let word = random.text(from: letters, upTo: 12)
            if !word.isEmpty { words.insert(word) }
        }
        let phrases = words.sorted().map { Phrase($0) }
        let many = PatternSet(phrases: phrases)
        var scratch = ScanScratch()
        for _ in 0..<300 {
            let some = (0..<6).map { _ in phrases.randomElement(using: &random)?.text ?? "" }
            let text = some.joined(
                separator: [" ", ", ", "x", "'", "_"].randomElement(using: &random) ?? " ")
            let folded = FoldedText(text, to: .plain)
            many.scan(folded, of: text, using: &scratch)
            let found = Set(scratch.hits)
            let few = PatternSet(phrases: some.map { Phrase($0) })
            few.scan(folded, of: text, using: &scratch)
            for hit in scratch.hits {
                let number = try #require(phrases.firstIndex { $0.text == some[hit.phrase] })
                #expect(found.contains(PhraseHit(phrase: number, range: hit.range)), "\(text)")
            }
            for hit in found {
                let text = FoldedText(phrases[hit.phrase].text, to: .plain).bytes
                #expect(Array(folded.bytes[hit.range]) == text)
            }
        }
    }

    /// What the hits are made from, in order of place.
    private func hits(_ written: [String], in text: String, level: FoldLevel = .plain) throws -> [String] {
        let set = PatternSet(level: level, phrases: try written.map { try Phrase(written: $0) })
        let folded = FoldedText(text, to: level)
        var scratch = ScanScratch()
        set.scan(folded, of: text, using: &scratch)
        return scratch.hits.sorted { $0.range.lowerBound < $1.range.lowerBound }.map {
            String(decoding: Array(text.utf8)[folded.original(of: $0.range)], as: UTF8.self)
        }
    }
}
