/// Made-up words: those that people write, and others of the same syllables that rules look for.
struct Vocabulary: Sendable {
    let keywords: [String]
    private let latin: [String]
    private let cyrillic: [String]
    private let japanese: [String]
    private static let emoji = ["😀", "👍🏽", "🎉", "❤️", "👩‍👩‍👧", "🇳🇴", "🙈", "🔥"]

    init(keywords count: Int = 10_000) {
        var random = SplitMix(seed: 1)
        func words(_ count: Int, of syllables: [String], _ length: ClosedRange<Int>) -> [String] {
            var known: Set<String> = []
            var words: [String] = []
            while words.count < count {
                let number = Int.random(in: length, using: &random)
                let word = (0..<number).compactMap { _ in syllables.randomElement(using: &random) }.joined()
                if known.insert(word).inserted { words.append(word) }
            }
            return words
        }
        let syllables =
            "bcdfghklmnprstvw".flatMap { first in "aeiou".map { "\(first)\($0)" } } + ["an", "er", "st"]
        let cyrillicSyllables = "бвгдзклмнпрст".flatMap { first in "аеиоу".map { "\(first)\($0)" } }
        let kana = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめも日本語会話".map { String($0) }
        latin = words(3_000, of: syllables, 1...3)
        cyrillic = words(2_000, of: cyrillicSyllables, 1...4)
        japanese = words(2_000, of: kana, 2...8)
        let usual = Set(latin)
        keywords = Array(
            words(count + 1_000, of: syllables, 3...5).filter { !usual.contains($0) }.prefix(count))
    }

    /// The words of one line, 30 to 110 bytes long.
    func line(_ script: Traffic.Script, _ number: Int, using random: inout SplitMix) -> [String] {
        let list: [String]
        switch (script, number % 3) {
        case (.latin, _): list = latin
        case (.others, 0): list = cyrillic
        case (.others, 1): list = japanese
        case (.others, _): list = latin
        }
        let wanted = Int.random(in: 26...96, using: &random)
        var words: [String] = []
        var size = 0
        while size < wanted {
            // Few words make up most of what is said.
            let place = Double.random(in: 0..<1, using: &random)
            let word = list[Int(place * place * place * Double(list.count))]
            words.append(words.isEmpty ? word.capitalizedFirst : word)
            size += word.utf8.count + 1
        }
        if script == .others, number % 3 == 2, let emoji = Self.emoji.randomElement(using: &random) {
            words.append(emoji)
        }
        return words
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
