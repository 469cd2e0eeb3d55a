internal import Chat
internal import Zones

/// A word by which people call a rule, ready to be looked for.
struct Command: Sendable {
    let prefix: String
    let name: String
    let words: Set<String>
    let arguments: [BotArgument]
    let answersWrongArguments: Bool
    /// Whose clock the times are of.
    let zone: TimeZone
    /// As it is shown to people: `!karma [who]`.
    let form: String
    /// The line for who wrote something else.
    let usage: String

    init(_ command: BotCommand, _ commands: BotCommands) {
        prefix = commands.prefix
        name = command.name.value
        words = Set([command.name.value] + command.aliases.map(\.value))
        arguments = command.arguments
        answersWrongArguments = commands.wrongArguments == .usage
        zone = commands.zone
        let parts = command.arguments.map { $0.isOptional ? "[\($0.name.value)]" : "<\($0.name.value)>" }
        form = command.usage ?? ([commands.prefix + command.name.value] + parts).joined(separator: " ")
        let kinds = command.arguments.compactMap { argument in
            argument.kind.words(in: commands.zone).map { "\(argument.name.value): \($0)" }
        }
        let isMade = command.usage == nil && !kinds.isEmpty
        usage = "Usage: \(form)" + (isMade ? " (\(kinds.joined(separator: "; ")))" : "")
    }

    func isCalled(by call: CommandCall?) -> Bool {
        guard let call else { return false }
        return call.prefix == prefix && words.contains(call.name)
    }

    /// Reads what was written behind the command.
    func read(_ call: CommandCall, _ event: ChatEvent, _ situation: Situation) -> ReadArguments {
        var scanner = ArgumentScanner(call.rest)
        var result = ReadArguments()
        for (index, argument) in arguments.enumerated() {
            let before = scanner
            if case .person = argument.kind, let person = scanner.nextKnown(event, situation) {
                result.values[argument.name.value] = .user(id: person.id, name: person.name)
                continue
            }
            if let text = scanner.next(argument.kind),
                let value = argument.kind.value(text, event, situation, zone)
            {
                result.values[argument.name.value] = value
                continue
            }
            // What does not fit one that may be left out may be meant for the next.
            let wasWritten = !before.isAtEnd
            let isLast = index + 1 == arguments.count
            scanner = before
            guard argument.isOptional, !(wasWritten && isLast) else {
                result.fits = false
                continue
            }
            // A number or a time that was mistyped must not become part of the reason, and what was wanted something else.
            if wasWritten, argument.kind.isCounted, scanner.beginsWithDigit,
                isOutOfBounds(scanner, argument.kind)
                    || !isFitting(scanner, arguments[(index + 1)...], event, situation)
            {
                result.fits = false
            }
            if let preset = argument.preset {
                result.values[argument.name.value] = argument.kind.value(
                    preset, event, situation, zone)
            }
        }
        if !scanner.isAtEnd { result.fits = false }
        return result
    }
}

extension Command {
    /// Whether the next word is what the argument takes, only too much or too little.
    private func isOutOfBounds(_ scanner: ArgumentScanner, _ kind: BotArgument.Kind) -> Bool {
        var scanner = scanner
        guard let text = scanner.next(kind) else { return false }
        return switch kind {
        case .integer: Int64(text) != nil
        case .duration: (try? Duration(text: text.lowercased())) != nil
        default: false
        }
    }

    /// Whether the next word is what one of those takes that do not take any word.
    private func isFitting(
        _ scanner: ArgumentScanner, _ later: ArraySlice<BotArgument>, _ event: ChatEvent,
        _ situation: Situation
    ) -> Bool {
        later.contains { argument in
            var scanner = scanner
            guard !argument.kind.takesAnyWord, let text = scanner.next(argument.kind) else { return false }
            return argument.kind.value(text, event, situation, zone) != nil
        }
    }
}

/// What was written behind a command.
struct ReadArguments: Sendable {
    var values: [String: TemplateValue] = [:]
    /// Whether it was what the command takes.
    var fits = true
}

/// A message that calls a command.
struct CommandCall: Sendable {
    var prefix: String
    /// In small letters.
    var name: String
    /// What stands behind it.
    var rest: String
}

/// Finds the command that a message calls. A message that calls none costs a look at its first letter.
struct CommandTable: Sendable {
    private let prefixes: [String]
    private let firstBytes: [Bool]
    /// The numbers of the rules by prefix and word.
    private let rules: [String: [String: [Int32]]]

    var isEmpty: Bool { prefixes.isEmpty }

    init(_ commands: [(rule: Int, command: Command)]) {
        var rules: [String: [String: [Int32]]] = [:]
        for (rule, command) in commands {
            for word in command.words {
                rules[command.prefix, default: [:]][word, default: []].append(Int32(rule))
            }
        }
        // The longest is meant where one begins with the other.
        prefixes = rules.keys.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
        var first = [Bool](repeating: false, count: 256)
        for prefix in prefixes { if let byte = prefix.utf8.first { first[Int(byte)] = true } }
        // White space, and the quote that some services put before an answer.
        for byte in [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: ">")] {
            first[Int(byte)] = true
        }
        firstBytes = first
        self.rules = rules
    }

    /// Nil when the text calls nothing that is known.
    func call(in text: String) -> CommandCall? {
        guard let byte = text.utf8.first, firstBytes[Int(byte)] else { return nil }
        let text = Self.withoutQuote(text[...])
        guard let prefix = prefixes.first(where: { text.hasPrefix($0) }) else { return nil }
        let behind = text.dropFirst(prefix.count)
        let name = behind.prefix { !$0.isWhitespace }
        guard !name.isEmpty, name.utf8.count <= 256 else { return nil }
        let word = name.lowercased()
        guard rules[prefix]?[word] != nil else { return nil }
        return CommandCall(
            prefix: prefix, name: word, rest: String(behind.dropFirst(name.count)).trimmed)
    }

    func rules(for call: CommandCall) -> [Int32] { rules[call.prefix]?[call.name] ?? [] }

    /// The text behind the lines that quote what it answers.
    private static func withoutQuote(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first {
            if first.isWhitespace {
                text.removeFirst()
            } else if first == ">", let end = text.firstIndex(where: \.isNewline) {
                text = text[end...]
            } else {
                break
            }
        }
        return text
    }
}

/// Cuts what stands behind a command into its arguments: words, or several words in quotes.
private struct ArgumentScanner {
    private var text: Substring

    init(_ text: String) {
        self.text = text[...]
    }

    var isAtEnd: Bool { text.allSatisfy(\.isWhitespace) }

    /// Whether the next word looks like a number: `30`, `-5m`, `.5h`.
    var beginsWithDigit: Bool {
        let word = text.drop(while: \.isWhitespace)
        return (word.first.map { "+-.,\u{2212}".contains($0) } == true ? word.dropFirst() : word).first?
            .isNumber
            == true
    }

    /// Several words that are somebody's name as it was seen; of several such names the longest.
    mutating func nextKnown(_ event: ChatEvent, _ situation: Situation) -> (id: String, name: String)? {
        var rest = self
        rest.text = rest.text.drop(while: \.isWhitespace)
        let start = rest.text.startIndex
        var longest: (person: (id: String, name: String), behind: ArgumentScanner)?
        for count in 1...Self.mostWords where !rest.isAtEnd {
            rest.text = rest.text.drop(while: \.isWhitespace)
            _ = rest.nextWord()
            guard count > 1 else { continue }
            let name = People.bare(String(text[start..<rest.text.startIndex]))
            if name.utf8.count <= 256, let person = People.find(name, event, situation.memory) {
                longest = (person, rest)
            }
        }
        guard let longest else { return nil }
        self = longest.behind
        return longest.person
    }

    private static let mostWords = 4

    mutating func next(_ kind: BotArgument.Kind) -> String? {
        text = text.drop(while: \.isWhitespace)
        guard !text.isEmpty else { return nil }
        if case .rest = kind {
            defer { text = "" }
            return String(text).trimmed
        }
        let closing: [Character: Character] = ["\"": "\"", "“": "”", "„": "“"]
        if let quote = text.first.flatMap({ closing[$0] }),
            let end = text.dropFirst().firstIndex(of: quote)
        {
            let word = text[text.index(after: text.startIndex)..<end]
            text = text[text.index(after: end)...]
            return String(word)
        }
        let word = nextWord()
        guard case .when = kind, Timestamp.isSpokenDay(word) else { return word }
        let behind = self
        text = text.drop(while: \.isWhitespace)
        let time = nextWord()
        if time.first?.isNumber == true, time.contains(":") { return "\(word) \(time)" }
        self = behind
        return word
    }

    private mutating func nextWord() -> String {
        let word = text.prefix { !$0.isWhitespace }
        text = text.dropFirst(word.count)
        return String(word)
    }
}

extension BotArgument.Kind {
    /// Whether it begins with a digit.
    fileprivate var isCounted: Bool {
        switch self {
        case .integer, .duration, .when: true
        default: false
        }
    }

    fileprivate var takesAnyWord: Bool {
        switch self {
        case .person, .word, .rest: true
        default: false
        }
    }

    /// The value of what was written; nil when it is none of this kind.
    func value(
        _ text: String, _ event: ChatEvent, _ situation: Situation, _ zone: TimeZone
    ) -> TemplateValue? {
        switch self {
        case .person:
            if text.lowercased() == "me", let member = event.member {
                return .user(id: member.user.text, name: member.name)
            }
            return TemplateValue.person(named: text, event, situation).map { .user(id: $0.id, name: $0.name) }
        case .channel:
            let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
            return situation.directory.places(named: name).isEmpty ? nil : .channel(title: name)
        default: return value(text, at: event.sentAt, zone)
        }
    }

    /// Whether a default can ever be a value; who and what is where is known later.
    func takes(preset text: String) -> Bool {
        switch self {
        case .person, .channel: true
        case .when: Timestamp(spoken: text, after: Timestamp(milliseconds: 0), in: .utc) != nil
        default: value(text, at: Timestamp(milliseconds: 0), .utc) != nil
        }
    }

    private func value(_ text: String, at moment: Timestamp, _ zone: TimeZone) -> TemplateValue? {
        switch self {
        case .person, .channel: return nil
        case .word(let bounds), .rest(let bounds):
            guard bounds.map({ $0.contains(Int64(text.count)) }) ?? true, !text.isEmpty else { return nil }
            return .theirs(text)
        case .integer(let bounds):
            guard let number = Int64(text), bounds.map({ $0.contains(number) }) ?? true else { return nil }
            return .number(number)
        case .duration(let bounds):
            guard let time = try? Duration(text: text.lowercased()),
                bounds.map({ $0.contains(time) }) ?? true
            else { return nil }
            return .duration(time)
        case .when(let bounds):
            guard let time = Timestamp(spoken: text, after: moment, in: zone),
                bounds.map({ $0.contains(time - moment) }) ?? true
            else { return nil }
            return .time(time, in: zone)
        case .choice(let words):
            let word = text.lowercased()
            return words.contains(word) ? .ours(word) : nil
        }
    }
}
