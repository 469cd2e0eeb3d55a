internal import Chat

/// A value in a template; it is printed once, and what it holds is never read as a template again.
indirect enum TemplateValue: Sendable, Equatable {
    /// Text of the rule's own author, printed as it is.
    case ours(String)
    /// Text that people wrote, made harmless when it is printed.
    case theirs(String)
    case number(Int64)
    case time(Timestamp)
    case duration(Duration)
    case user(id: String, name: String)
    /// A user as `@name`.
    case mention(id: String, name: String)
    case channel(title: String)
    case list([TemplateValue])
    case absent

    enum Kind: String, Sendable { case text, number, time, duration, user, channel, list }

    var isEmpty: Bool {
        switch self {
        case .absent: true
        case .ours(let text), .theirs(let text), .channel(let text): text.isEmpty
        case .list(let items): items.isEmpty
        default: false
        }
    }

    /// The text without any care for where it goes.
    var plain: String {
        switch self {
        case .ours(let text), .theirs(let text): text
        case .number(let number): String(number)
        case .time(let time): Self.utc(time)
        case .duration(let duration): duration.words
        case .user(_, let name): name
        case .mention(_, let name): "@\(name)"
        case .channel(let title): title
        case .list(let items): Self.series(items.map(\.plain))
        case .absent: ""
        }
    }

    /// `a, b and c`.
    static func series(_ parts: [String]) -> String {
        guard parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + parts[parts.count - 1]
    }

    private static func utc(_ time: Timestamp) -> String {
        let seconds = time.milliseconds / 1000 - (time.milliseconds % 1000 < 0 ? 1 : 0)
        var days = seconds / 86_400
        var rest = seconds % 86_400
        if rest < 0 { (days, rest) = (days - 1, rest + 86_400) }
        // Days to a civil date, counted in eras of 400 years that begin in March.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let date = (
            year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(date.0)-\(two(date.1))-\(two(date.2)) \(two(rest / 3600)):\(two(rest / 60 % 60)) UTC"
    }
}

/// Where a text goes, and so what must not happen in it.
struct Destination: Sendable {
    var markup: Abilities.Markup = .plain
    /// The users the action itself mentions; nobody else is called.
    var mentioned: Set<String> = []

    /// What is added behind an `@` so that it calls nobody.
    static let breaker = "\u{200B}"

    func print(_ value: TemplateValue) -> String {
        switch value {
        case .ours(let text): text
        case .theirs(let text), .channel(let text): harmless(text)
        case .user(_, let name): harmless(name)
        case .mention(let id, let name): mention(id: id, name: name)
        case .list(let items): TemplateValue.series(items.map(print))
        default: value.plain
        }
    }

    /// People's text: it calls nobody and formats nothing.
    func harmless(_ text: String) -> String {
        let quiet = Self.quiet(text)
        guard markup == .markdown else { return quiet }
        var escaped = ""
        for character in quiet {
            if "\\`*_~|[]<>#".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }

    /// The text with each `@name` broken.
    static func quiet(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            result.append(scalar)
            let isLast = index + 1 == scalars.count
            if scalar == "@", isLast || !scalars[index + 1].properties.isWhitespace {
                result.append("\u{200B}")
            }
        }
        return String(result)
    }

    private func mention(id: String, name: String) -> String {
        "@" + (mentioned.contains(id) ? "" : Self.breaker) + harmless(name)
    }

    /// In a code span, which nothing in the text can close.
    func code(_ text: String) -> String {
        "`" + Self.quiet(text.replacing("`", with: "\u{2CB}").replacing("\n", with: " ")) + "`"
    }

    func quote(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { "> " + harmless(String($0)) }.joined(separator: "\n")
    }
}
