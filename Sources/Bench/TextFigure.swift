internal import Chat
internal import Matching
internal import Rules
internal import Unicode

/// What the conditions of rules cost a message: words and expressions by their number, beside RE2's own set of the same,
/// and rules without any word.
enum TextFigure {
    private static let sizes = [10, 100, 1_000, 10_000]
    private static let rounds = 7

    static func measure() throws {
        Table.section("nanoseconds for each text, folded and looked through")
        let vocabulary = Vocabulary()
        let ascii = lines(.latin, vocabulary) { _ in true }
        for size in sizes {
            let words = Array(vocabulary.keywords.prefix(size))
            let set = try regexSet(words.map { "(?i)\\b\($0)\\b" })
            let (own, other) = nanoseconds(PatternSet(phrases: words.map { Phrase($0) }), beside: set, ascii)
            Table.line("\(size) words", own.rate, "no slower", "RE2::Set \(other.rate)")
        }
        for size in sizes {
            let sources = (0..<size).map { expression(vocabulary.keywords, $0) }
            let set = try regexSet(sources)
            let (own, other) = nanoseconds(try patterns(sources), beside: set, ascii)
            Table.line("\(size) expressions", own.rate, "no slower", "RE2::Set \(other.rate)")
        }
        let wide = (0..<300).map { "(?i)\(vocabulary.keywords[$0 * 2]).*\(vocabulary.keywords[$0 * 2 + 1])" }
        let cost = nanoseconds(try patterns(wide), ascii)
        Table.line("300 expressions with .*", cost.rate, "< 1,000")
        let words = PatternSet(phrases: vocabulary.keywords.prefix(1_000).map { Phrase($0) })
        for (name, texts) in others(vocabulary) {
            Table.line("1,000 words, \(name)", nanoseconds(words, texts).rate)
        }
        Table.section("nanoseconds for each event that no rule is about")
        for count in [10, 2_000] {
            let rules = try load(withoutWords(count))
            Table.line(
                "\(count) rules without words", nanoseconds(rules, ascii).rate, count == 10 ? "" : "< 1,000")
        }
        for count in [10, 10_000] {
            let start = Stopwatch.computed
            let rules = try load(KeywordRules.source(vocabulary.keywords.prefix(count)))
            let loading = (Stopwatch.computed - start) * 1000
            let cost = nanoseconds(rules, ascii)
            Table.line("\(count) rules with a word", cost.rate, "", "loaded in \(loading.fixed(0)) ms")
        }
    }

    // MARK: What is looked for

    private static func expression(_ words: [String], _ number: Int) -> String {
        "(?i)\\b\(words[number])[a-z]{0,3}\\b"
    }

    private static func patterns(_ sources: [String]) throws -> PatternSet {
        PatternSet(regexes: try sources.map { (try Regex($0), .original) })
    }

    private static func regexSet(_ sources: [String]) throws -> RegexSet {
        guard let set = RegexSet(sources) else { throw BenchError("RE2 did not take the set") }
        return set
    }

    /// Lengths, lines, capitals, mentions and links that no line has.
    private static func withoutWords(_ count: Int) -> String {
        var text = "version: 1\nrules:\n"
        for number in 0..<count {
            let limit = 3 + number / 6 * 2
            let condition = [
                "length: over \(limit + 200)", "lines: over \(limit)",
                "caps: {share: 80%+, letters: \(limit + 20)+}",
                "mentions: over \(limit)", "links: over \(limit)",
                "emoji: over \(limit)",
            ][number % 6]
            text += "  r\(number): {when: messageAdded, if: {\(condition)}, do: [{reply: \"x\"}]}\n"
        }
        return text
    }

    private static func load(_ source: String) throws -> RuleSet {
        let loaded = RuleSet.load(
            [BotSource(name: "bench.yaml", bytes: Array(source.utf8))], directory: KeywordRules.directory)
        guard let rules = loaded.rules else {
            throw BenchError("the bench's rules are wrong: \(loaded.errors.first?.description ?? "")")
        }
        return rules
    }

    // MARK: What is looked at

    private static func lines(
        _ script: Traffic.Script, _ vocabulary: Vocabulary, where isWanted: (String) -> Bool
    ) -> [String] {
        Traffic(6_000, script, vocabulary: vocabulary).lines.map(\.text).filter(isWanted)
    }

    private static func others(_ vocabulary: Vocabulary) -> [(String, [String])] {
        func has(_ text: String, _ range: ClosedRange<UInt32>) -> Bool {
            text.unicodeScalars.contains { range.contains($0.value) }
        }
        let mixed = lines(.others, vocabulary) { _ in true }
        let arabic = [
            "مرحبا بكم في القناة الرئيسية كيف حالكم اليوم", "متى يفتح المكتب غدا من فضلكم",
            "لا أستطيع تسجيل الدخول إلى حسابي",
        ]
        return [
            ("Cyrillic", mixed.filter { has($0, 0x400...0x4FF) }), ("Arabic", arabic),
            ("Japanese", mixed.filter { has($0, 0x3040...0x9FFF) }),
            ("with emoji", mixed.filter { has($0, 0x1F300...0x1FAFF) && !has($0, 0x400...0x4FF) }),
        ]
    }

    // MARK: Measuring

    /// By turns, so that what else the machine does slows both.
    private static func nanoseconds(
        _ patterns: PatternSet, beside set: RegexSet, _ texts: [String]
    ) -> (Double, Double) {
        let turns = (0..<3).map { _ in (nanoseconds(patterns, texts), nanoseconds(set, texts)) }
        return (turns.map(\.0).min() ?? .nan, turns.map(\.1).min() ?? .nan)
    }

    private static func nanoseconds(_ patterns: PatternSet, _ texts: [String]) -> Double {
        var folded = FoldedText()
        var scratch = ScanScratch()
        var hits = 0
        return least(texts.count) {
            for text in texts {
                folded.fold(text, to: .plain)
                patterns.scan(folded, of: text, using: &scratch)
                hits += scratch.hits.count
            }
        }
    }

    private static func nanoseconds(_ set: RegexSet, _ texts: [String]) -> Double {
        let bytes = texts.map { Array($0.utf8) }
        var hits = 0
        return least(texts.count) {
            for text in bytes { hits += text.withUnsafeBufferPointer { set.count(in: $0) } }
        }
    }

    private static func nanoseconds(_ rules: RuleSet, _ texts: [String]) -> Double {
        let realm = Identities().realm("bench")
        let channel = Channel(id: realm.channel("C1"), uniqueName: "room", title: "Room")
        let author = Member(user: realm.user("ana"))
        let now = Timestamp(milliseconds: 1_780_000_000_000)
        let events = texts.enumerated().map { number, text in
            ChatEvent(
                id: "E\(number)", account: KeywordRules.account, realm: realm, channel: channel, sentAt: now,
                kind: .messageAdded(Message(id: "M\(number)", author: author, text: text)))
        }
        let abilities = KeywordRules.directory.accounts[KeywordRules.account]?.abilities
        let situation = Situation(
            now: now, abilities: abilities ?? Abilities(events: [], actions: [], textLimit: .init(0, .bytes)),
            memory: Nothing(), directory: KeywordRules.directory)
        let handlers = rules.handlers
        return least(events.count) {
            for event in events {
                for handler in handlers { _ = try? handler.decide(event, in: situation) }
            }
        }
    }

    /// The fastest of some rounds: what else the machine does only adds.
    private static func least(_ count: Int, _ body: () -> Void) -> Double {
        var best = Double.infinity
        for _ in 0..<rounds {
            let start = Stopwatch.computed
            body()
            best = min(best, Stopwatch.computed - start)
        }
        return best * 1e9 / Double(max(count, 1))
    }
}

/// Remembers nothing.
private struct Nothing: Recollection {
    func value(of key: MemoryKey) -> MemoryValue? { nil }
}
