internal import Chat
internal import Matching

/// A condition ready to be asked; words and expressions were looked for before, so it only reads what was found.
indirect enum Condition: Sendable {
    /// One of the words or expressions of a probe occurs.
    case found(Int32)
    /// The event has one of these texts at all.
    case has([BotText.Field])
    case near(NearTest)
    case user(UserTest)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Whether the condition asks if the member is a program.
    var asksForBots: Bool {
        switch self {
        case .user(let test): test.bot != nil
        case .all(let list), .any(let list): list.contains(where: \.asksForBots)
        case .not(let condition): condition.asksForBots
        default: false
        }
    }

    /// Whether it looks at texts.
    var asksForText: Bool {
        switch self {
        case .found, .near: true
        case .has, .user: false
        case .all(let list), .any(let list): list.contains(where: \.asksForText)
        case .not(let condition): condition.asksForText
        }
    }

    /// Probes of which one must have been found for the condition to hold; nil when it can hold without.
    func trigger(_ sizes: [Int]) -> [Int32]? {
        switch self {
        case .found(let probe): return [probe]
        case .has, .near, .user, .not: return nil
        case .all(let list):
            return list.compactMap { $0.trigger(sizes) }.min { left, right in
                left.reduce(0) { $0 + sizes[Int($1)] } < right.reduce(0) { $0 + sizes[Int($1)] }
            }
        case .any(let list):
            var probes: [Int32] = []
            for condition in list {
                guard let some = condition.trigger(sizes) else { return nil }
                probes += some
            }
            return list.isEmpty ? nil : probes
        }
    }
}

/// What a rule's text is looked through for: one set of words or expressions that count as one.
struct Probe: Sendable {
    enum Kind: String, Sendable {
        case any = "has one of"
        case all = "has"
        case none = "has none of"
        case equals = "is"
        case starts = "starts with"
        case ends = "ends with"
        case regex = "matches"
    }

    var kind: Kind
    /// As they were written.
    var words: [Placed<String>]
    var fields: [BotText.Field]
    var lanes: [Int]
    /// Of the kind `regex`; in the order of `words`.
    var regexes: [Regex] = []
    /// Whether its expressions look at the folded text.
    var seesFolded = false
}

/// Looks for words with spelling mistakes.
final class NearTest: Sendable {
    /// Folded, each cut into its words.
    let phrases: [[[Unicode.Scalar]]]
    let edits: Int
    let words: [Placed<String>]
    let lanes: [Int]

    init(phrases: [[[Unicode.Scalar]]], edits: Int, words: [Placed<String>], lanes: [Int]) {
        self.phrases = phrases
        self.edits = edits
        self.words = words
        self.lanes = lanes
    }

    /// Whether a folded text has one of the phrases, each word with so many mistakes at most.
    func matches(_ text: [UInt8]) -> Bool {
        let words = Self.words(of: String(decoding: text, as: UTF8.self))
        return phrases.contains { phrase in
            guard !phrase.isEmpty, words.count >= phrase.count else { return false }
            return (0...(words.count - phrase.count)).contains { start in
                zip(phrase, words[start...]).allSatisfy { wanted, word in
                    let limit = min(edits, wanted.count / 4)
                    return Suggestion.edits(between: word, and: wanted, atMost: limit) != nil
                }
            }
        }
    }

    static func words(of text: String) -> [[Unicode.Scalar]] {
        var words: [[Unicode.Scalar]] = []
        var word: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(word)
                word = []
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
