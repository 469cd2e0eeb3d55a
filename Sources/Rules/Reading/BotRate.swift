internal import Chat

/// How often something must have happened, as it is written.
struct BotRate: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case messages, links, mentions, attachments, emoji, joins, leaves, edits, identical, similar, strikes
        case reports

        /// The events that count.
        var events: [EventName] {
            switch self {
            case .messages, .links, .mentions, .attachments, .emoji: [.messageAdded]
            case .joins: [.memberJoined]
            case .leaves: [.memberLeft]
            case .edits: [.messageEdited]
            // A text that is edited in counts like one that was sent.
            case .identical, .similar: [.messageAdded, .messageEdited]
            // What rules do about people.
            case .strikes, .reports: []
            }
        }

        /// The same for one event, without a list.
        func counts(_ event: EventName) -> Bool {
            switch self {
            case .messages, .links, .mentions, .attachments, .emoji: event == .messageAdded
            case .joins: event == .memberJoined
            case .leaves: event == .memberLeft
            case .edits: event == .messageEdited
            case .identical, .similar: event == .messageAdded || event == .messageEdited
            case .strikes, .reports: false
            }
        }

        var looksAtText: Bool { self == .identical || self == .similar }
    }
    enum Per: String, Sendable, CaseIterable { case user, channel }
    enum Across: String, Sendable, CaseIterable { case channel, service, all }
    enum Distinct: String, Sendable, CaseIterable { case user, channel }

    var spot: Spot
    var count = 0
    var kind = Kind.messages
    var time = Duration.zero
    var per: Per?
    var across = Across.channel
    var distinct: Distinct?
    var only: BotUser?

    /// As its short form says it.
    var words: String {
        var words = "\(count) \(kind.rawValue) in \(time.short)"
        if let per { words += " per \(per.rawValue)" }
        if across != .channel { words += " across \(across.rawValue)" }
        if let distinct { words += " of different \(distinct.rawValue)s" }
        return words
    }

    static let most = 10_000
    static let longest = Duration.seconds(30 * 86_400)
}

extension BotRate {
    /// Reads `7 messages in 10s per user across service`.
    init(text: String, spot: Spot) throws(ShortFormError) {
        self.init(spot: spot)
        let words = text.split(separator: " ").map(String.init)
        let hint = "try \"7 messages in 10s per user\""
        guard words.count >= 4, words.count % 2 == 0, words[2] == "in" else {
            throw ShortFormError(problem: "\"\(text.shortened)\" is not a rate", hint: hint)
        }
        var mistakes = ShortFormMistakes()
        count = mistakes.read { () throws(ShortFormError) in try Self.count(words[0]) } ?? count
        kind = mistakes.read { () throws(ShortFormError) in try Self.kind(words[1]) } ?? kind
        time = mistakes.read { () throws(ShortFormError) in try Self.time(words[3]) } ?? time
        var said: Set<String> = []
        for index in stride(from: 4, to: words.count, by: 2) {
            let (name, value) = (words[index], words[index + 1])
            switch name {
            case "per" where said.insert(name).inserted:
                per = mistakes.read { () throws(ShortFormError) in try Self.choice(value, name) }
            case "across" where said.insert(name).inserted:
                across = mistakes.read { () throws(ShortFormError) in try Self.choice(value, name) } ?? across
            default: mistakes.add("\"\(name)\" does not belong here", hint: hint)
            }
        }
        try mistakes.end()
    }

    static func count(_ text: String) throws(ShortFormError) -> Int {
        guard let count = Int(text.hasSuffix("+") ? String(text.dropLast()) : text),
            (1...most).contains(count)
        else {
            throw ShortFormError(
                problem: "\"\(text.shortened)\" is not how often something happens", hint: "use 1 to 10000")
        }
        return count
    }

    static func time(_ text: String) throws(ShortFormError) -> Duration {
        let time = try Duration(text: text)
        guard time > .zero, time <= longest else {
            throw ShortFormError(
                problem: "a rate looks back for 1ms to 30d, not \"\(text)\"", hint: "try 10s")
        }
        return time
    }

    static func kind(_ text: String) throws(ShortFormError) -> Kind {
        if let kind = Kind(rawValue: text) ?? Kind(rawValue: text + "s") { return kind }
        let names = Kind.allCases.map(\.rawValue)
        throw ShortFormError(
            problem: "\"\(text.shortened)\" cannot be counted",
            hint: Suggestion.hint(for: text, among: names) ?? "use "
                + names.joined(separator: ", "))
    }

    private static func choice<Value: CaseIterable & RawRepresentable<String>>(
        _ text: String, _ what: String
    ) throws(ShortFormError) -> Value {
        if let value = Value(rawValue: text) { return value }
        let names = Value.allCases.map(\.rawValue)
        throw ShortFormError(
            problem: "unknown \"\(what) \(text.shortened)\"",
            hint: Suggestion.hint(for: text, among: names) ?? "use " + names.joined(separator: " or "))
    }
}
