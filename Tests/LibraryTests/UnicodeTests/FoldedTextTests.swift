import Seeds
import Testing

@testable import Unicode

@Suite struct FoldedTexts {
    @Test(arguments: [
        ("Hello", "Hello"),
        ("e\u{301}t\u{E9}", "\u{E9}t\u{E9}"),
        ("a  b\u{200B}", "a  b\u{200B}"),
        ("", ""),
    ])
    func `exact makes only canonical equivalents equal`(_ text: String, _ folded: String) {
        #expect(utf8(text, .exact) == Array(folded.utf8))
    }

    @Test(arguments: [
        ("What the HECK", "what the heck"),
        ("ＷＩＤＥ ｔｅｘｔ", "wide text"),
        ("Straße STRASSE", "strasse strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("ﬁne ① ㎏", "fine 1 kg"),
        ("a \t\r\n  b", "a b"),
        ("a\u{A0}\u{3000}\u{2028}\u{85}\u{1680}b", "a b"),
        ("sc\u{200B}a\u{200D}m\u{FEFF}", "scam"),
        ("sc\u{AD}a\u{2060}m", "scam"),
        ("\u{202E}scam\u{202C} \u{2066}x\u{2069}", "scam x"),
        ("Привет МИР", "привет мир"),
        ("café", "café"),
        ("👨\u{200D}👩\u{200D}👧 x\u{200D}👧", "👨\u{200D}👩\u{200D}👧 x👧"),
        ("it’s e‑mail", "it's e-mail"),
        ("كتـاب", "كتاب"),
        ("❤\u{FE0F}", "❤"),
        ("heeeey h3y", "heeeey h3y"),
        ("раypal", "раypal"),
        ("", ""),
    ])
    func `plain makes case, width, spaces and the invisible equal`(_ text: String, _ folded: String) {
        #expect(utf8(text, .plain) == Array(folded.utf8))
    }

    @Test(arguments: [
        // Accents, but not the marks that are letters.
        ("café ÉCOLE", "cafe ecole"),
        ("z̸̢̛a̵̧l̴̨g̷o̶", "zalgo"),
        ("שָׁלוֹם", "שלום"),
        ("ที่นี่", "ที่นี่"),
        ("हिन्दी", "हिन्दी"),
        ("がぎ パ", "がぎ パ"),
        ("한국어", "한국어"),
        // Stretched letters.
        ("heyyyyyy", "heyy"),
        ("ggooood", "ggood"),
        ("hey... 1000000", "hey... 1000000"),
        ("éééé", "ee"),
        // Digits in words.
        ("h3110 w0rld", "heiio world"),
        ("at 10:30 on 2024-05-01", "at 10:30 on 2024-05-01"),
        ("p4ssw0rd 555", "password 555"),
        // Look-alikes: only in words that mix scripts, or among Latin words.
        ("раypal", "paypal"),
        ("РАYРАL", "paypal"),
        ("pаypa1", "paypai"),
        ("привет, как дела", "привет, как дела"),
        ("рост и хор", "рост и хор"),
        ("login to раураӏ now", "login to paypal now"),
        ("сору", "сору"),
        ("он сказал copy", "он сказал copy"),
        ("cлово", "слово"),
        ("ΝAΖI", "nazi"),
        ("ᴘᴀʏᴘᴀʟ", "paypal"),
        ("🅿🅰🆈", "pay"),
        ("Tシャツ", "tシャツ"),
        ("日本語 and Latin", "日本語 and latin"),
        ("العربية", "العربية"),
        ("γειά σου", "γεια σου"),
    ])
    func `loose sees through accents, padding, digits and look-alikes`(_ text: String, _ folded: String) {
        #expect(utf8(text, .loose) == Array(folded.utf8), "\(text.folded(to: .loose))")
    }

    @Test(arguments: FoldLevel.allCases)
    func `folding twice is folding once`(_ level: FoldLevel) {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            let text = random.text(from: Self.letters, upTo: 12)
            let once = text.folded(to: level)
            // What loose makes of a word may make its neighbours look otherwise, as it should.
            if !level.isLoose { #expect(utf8(once, level) == Array(once.utf8), "\(text.unicodeScalars)") }
        }
    }

    @Test func `one value serves one text after another`() {
        var folded = FoldedText()
        for (text, level, expected) in [
            ("Été  1", FoldLevel.plain, "été 1"), ("A", .exact, "A"), ("aaaa", .loose, "aa"),
            ("Ça", .plain, "ça"), ("", .plain, ""),
        ] {
            folded.fold(text, to: level)
            #expect(folded.bytes == Array(expected.utf8))
            #expect(folded.level == level)
            #expect(folded.isASCII == text.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    @Test(arguments: [
        (FoldLevel.plain, "see sc\u{200B}am now", "scam", "sc\u{200B}am"),
        (.plain, "so   much\t\tspace", "much space", "much\t\tspace"),
        (.plain, "ÉCOLE Straße!", "strasse", "Straße"),
        (.plain, "ein ﬁnger", "finger", "ﬁnger"),
        (.plain, "ein ﬁnger", "inger", "ﬁnger"),
        (.plain, "plain SCAM here", "scam", "SCAM"),
        (.plain, "x e\u{301}te y", "éte", "e\u{301}te"),
        (.exact, "x e\u{301}te y", "éte", "e\u{301}te"),
        (.loose, "the раypal mail", "paypal", "раypal"),
        (.loose, "so   heyyyyy  you", "heyy you", "heyyyyy  you"),
        (.loose, "so heyyyyy", "heyy", "heyyyyy"),
        (.loose, "z̸̢̛a̵̧l̴̨g̷o̶!", "zalgo", "z̸̢̛a̵̧l̴̨g̷o̶"),
        (.loose, "my P4SS", "pass", "P4SS"),
        (.plain, "一二 你好 三", "你好", "你好"),
        (.plain, "👍🏽 ok ＯＫ", "ok ok", "ok ＯＫ"),
        (.plain, "I can’t now", "can't", "can’t"),
        (.plain, "هذا كتـاب", "كتاب", "كتـاب"),
        (.plain, "x 👩\u{FE0F}\u{200D}🚒 y", "👩\u{200D}🚒", "👩\u{FE0F}\u{200D}🚒"),
    ])
    func `a place in the folded text leads to the original`(
        _ level: FoldLevel, _ text: String, _ hit: String, _ expected: String
    ) throws {
        let folded = FoldedText(text, to: level)
        let range = try #require(find(Array(hit.utf8), in: folded.bytes))
        let original = folded.original(of: range)
        #expect(String(decoding: Array(text.utf8)[original], as: UTF8.self) == expected)
    }

    @Test(arguments: FoldLevel.allCases)
    func `every place leads to whole letters of the original, in order`(_ level: FoldLevel) {
        var random = SeededRandom(seed: 11)
        for _ in 0..<3_000 {
            let text = random.text(from: Self.letters, upTo: 14)
            let original = Array(text.utf8)
            let folded = FoldedText(text, to: level)
            var last = 0
            var i = 0
            while i < folded.bytes.count {
                var next = i + 1
                while next < folded.bytes.count, folded.bytes[next] & 0xC0 == 0x80 { next += 1 }
                let range = folded.original(of: i..<next)
                #expect(range.lowerBound >= last && range.upperBound <= original.count && !range.isEmpty)
                guard range.upperBound <= original.count else { return }
                #expect(String(validating: original[range], as: UTF8.self) != nil)
                last = range.lowerBound
                i = next
            }
            #expect(String(validating: folded.bytes, as: UTF8.self) != nil)
        }
    }

    @Test func `bytes that are no UTF-8 do no harm`() {
        var random = SeededRandom(seed: 3)
        var folded = FoldedText()
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            for level in FoldLevel.allCases {
                bytes.withUnsafeBufferPointer { folded.fold($0, to: level) }
                #expect(folded.original(of: 0..<folded.bytes.count).upperBound <= bytes.count)
            }
        }
    }

    @Test func `a place outside the text leads nowhere`() {
        let folded = FoldedText("abc", to: .plain)
        #expect(folded.original(of: 2..<9) == 0..<0)
        #expect(folded.original(of: 1..<1) == 0..<0)
    }

    private static let letters: [String] = [
        "a", "B", "e", "ss", "1", "0", " ", "  ", "\t", "\n", ".", "é", "e\u{301}", "\u{327}", "ﬁ", "ß", "İ",
        "Σ",
        "\u{200B}", "\u{200D}", "\u{AD}", "р", "а", "Н", "ж", "я", "Ν", "ω", "한", "ᄀ", "ᅡ", "が", "か\u{3099}",
        "你",
        "好", "ไ", "ท", "ี", "ा", "ه", "\u{64B}", "’", "‑", "👨", "🏽", "🇳", "🅰", "ᴀ", "①",
        "\u{1D15E}", "㎏", "aaa", "ééé",
    ]
}

private func utf8(_ text: String, _ level: FoldLevel) -> [UInt8] {
    FoldedText(text, to: level).bytes
}

private func find(_ part: [UInt8], in text: [UInt8]) -> Range<Int>? {
    guard part.count <= text.count else { return nil }
    return (0...text.count - part.count).first { text[$0...].starts(with: part) }.map { $0..<$0 + part.count }
}
