internal import Zones

/// How the rules of a file are called by people.
struct BotCommands: Sendable {
    enum WrongArguments: String, Sendable, CaseIterable { case usage, silent }

    var prefix = "!"
    /// What happens when the arguments do not fit.
    var wrongArguments = WrongArguments.usage
    /// Whose clock it is when somebody writes `09:00`.
    var zone = TimeZone.utc
}

/// A word by which people call a rule, and what they write behind it.
struct BotCommand: Sendable {
    var name: Placed<String>
    var aliases: [Placed<String>] = []
    var arguments: [BotArgument] = []
    /// Arguments of which it could not be read what they are.
    var unread: Set<String> = []
    /// The line that helps who wrote something else; nil: made from the arguments.
    var usage: String?
}

/// What is written behind a command at one place.
struct BotArgument: Sendable {
    enum Kind: Sendable {
        case person, channel
        case word(Bounds<Int64>?)
        /// All that is left of the text.
        case rest(Bounds<Int64>?)
        case integer(Bounds<Int64>?)
        case duration(Bounds<Duration>?)
        /// A moment to come, and how far off it may be.
        case when(Bounds<Duration>?)
        case choice([String])
    }

    var name: Placed<String>
    var kind: Kind
    var isOptional: Bool
    /// What it is when nothing is written; as it would be written.
    var preset: String?
}

extension BotArgument.Kind {
    static let names = ["person", "channel", "word", "rest", "integer", "duration", "when", "one of"]

    /// What people call these kinds elsewhere.
    static let otherNames = [
        "user": "person", "member": "person", "text": "rest", "string": "rest", "int": "integer",
        "number": "integer", "choice": "one of a b", "enum": "one of a b", "time": "duration",
        "date": "when", "datetime": "when", "moment": "when",
    ]

    /// The kind with bounds from the rule's `limits`.
    func limited(_ text: String) throws(ShortFormError) -> BotArgument.Kind {
        switch self {
        case .word: return .word(try Bounds(lengths: text))
        case .rest: return .rest(try Bounds(lengths: text))
        case .integer: return .integer(try Bounds(numbers: text))
        case .duration: return .duration(try Bounds(times: text))
        case .when: return .when(try Bounds(times: text))
        case .person, .channel, .choice:
            throw ShortFormError(
                problem: "there is nothing to limit",
                hint: "limits are for integer, duration, when, word and rest")
        }
    }

    var templateKind: TemplateValue.Kind {
        switch self {
        case .person: .user
        case .channel: .channel
        case .word, .rest, .choice: .text
        case .integer: .number
        case .duration: .duration
        case .when: .time
        }
    }

    /// In words, for the usage line; nil where its name says it.
    func words(in zone: TimeZone) -> String? {
        switch self {
        case .person, .channel, .word, .rest: nil
        case .integer(let bounds): bounds.map { "a whole number, \($0.text)" } ?? "a whole number"
        case .duration(let bounds): "a time such as 10m" + (bounds.map { ", \($0.text)" } ?? "")
        case .when(let bounds):
            "2h, 09:00, tomorrow 09:00, fri 09:00 or 2026-06-15 09:00, in \(zone)"
                + (bounds.map { "; \($0.text)" } ?? "")
        case .choice(let words):
            words.count < 2
                ? words.first
                : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
        }
    }
}

extension BotArgument {
    /// Reads `person`, `optional rest`, `duration = 2m`, `integer 1 to 100`, `one of start stop`.
    init(_ name: Placed<String>, text: String) throws(ShortFormError) {
        var rest = text.split(separator: " ").map(String.init)
        var preset: String?
        if let mark = rest.firstIndex(of: "=") {
            preset = rest[(mark + 1)...].joined(separator: " ")
            rest = Array(rest[..<mark])
        }
        let isOptional = rest.first == "optional"
        if isOptional { rest.removeFirst() }
        let kind = try Self.kind(rest, in: text)
        self.init(name: name, kind: kind, isOptional: isOptional || preset != nil, preset: preset)
    }

    private static func kind(_ words: [String], in text: String) throws(ShortFormError) -> Kind {
        let more = words.dropFirst().joined(separator: " ")
        let bounds = more.isEmpty ? nil : more
        switch words.first {
        case "person", "channel":
            guard more.isEmpty else { break }
            return words[0] == "person" ? .person : .channel
        case "word", "rest":
            let bounds = try bounds.map { text throws(ShortFormError) in try Bounds<Int64>(lengths: text) }
            return words[0] == "word" ? .word(bounds) : .rest(bounds)
        case "integer":
            return .integer(
                try bounds.map { text throws(ShortFormError) in try Bounds<Int64>(numbers: text) })
        case "duration", "when":
            let bounds = try bounds.map { text throws(ShortFormError) in try Bounds<Duration>(times: text) }
            return words[0] == "when" ? .when(bounds) : .duration(bounds)
        case "one" where words.count > 1 && words[1] == "of":
            let choices = words.dropFirst(2).map { $0.lowercased() }
            guard Set(choices).count > 1 else { break }
            if let word = words.dropFirst(2).first(where: { $0.contains("\"") || $0.contains("'") }) {
                throw ShortFormError(
                    problem:
                        "\(word.shortened) in \"\(text.shortened)\": each choice is one word, without quotes",
                    hint: "write it as one word, such as go-on")
            }
            return .choice(choices.unique)
        case let word?:
            let meant = otherName(String(word.prefix { $0.isLetter }))
            throw ShortFormError(
                problem: "unknown kind of argument \"\(text.shortened)\"",
                hint: meant.map { "did you mean \"\($0)\"?" }
                    ?? "use " + Kind.names.joined(separator: ", ")
                    + ", with optional before it or = behind it")
        case nil: break
        }
        throw ShortFormError(
            problem: "\"\(text.shortened)\" is no kind of argument",
            hint: "try \"person\", \"optional rest\", \"integer 1 to 100\" or \"one of start stop\"")
    }

    private static func otherName(_ word: String) -> String? {
        Kind.otherNames[word] ?? Suggestion.nearest(to: word, among: Kind.names)
    }
}
