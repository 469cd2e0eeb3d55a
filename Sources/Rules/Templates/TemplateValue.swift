internal import Chat
internal import Zones

/// A value in a template; it is printed once, and what it holds is never read as a template again.
indirect enum TemplateValue: Sendable, Equatable {
    /// Text of the rule's own author, printed as it is.
    case ours(String)
    /// Text that people wrote, made harmless when it is printed.
    case theirs(String)
    case number(Int64)
    /// A moment, printed as the clocks of the zone show it; in UTC without one.
    case time(Timestamp, in: TimeZone? = nil)
    case duration(Duration)
    case user(id: String, name: String)
    /// A user as `@name`.
    case mention(id: String, name: String)
    case channel(title: String)
    case list([TemplateValue])
    /// Text that was put together from others, each printed in its own way.
    case made(MadeText)
    case counter(CounterValue)
    case absent

    enum Kind: String, Sendable { case text, number, time, duration, user, channel, list }

    var isEmpty: Bool {
        switch self {
        case .absent: true
        case .ours(let text), .theirs(let text), .channel(let text): text.isEmpty
        case .list(let items): items.isEmpty
        case .made(let text): text.plain.isEmpty
        default: false
        }
    }

    /// The text without any care for where it goes.
    var plain: String {
        switch self {
        case .ours(let text), .theirs(let text): text
        case .number(let number): String(number)
        case .time(let time, let zone): DateFormat.usual?.text(time.milliseconds, in: zone ?? .utc) ?? ""
        case .duration(let duration): duration.words
        case .user(_, let name): name
        case .mention(_, let name): "@\(name)"
        case .channel(let title): title
        case .list(let items): Self.series(items.map(\.plain))
        case .made(let text): text.plain
        case .counter(let counter): String(counter.number)
        case .absent: ""
        }
    }

    /// `a, b and c`.
    static func series(_ parts: [String]) -> String {
        guard parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + parts[parts.count - 1]
    }

}

/// What a counter stands at, for the event's own user or channel, and how to ask for another's.
struct CounterValue: Sendable, Equatable {
    var name: String
    var number: Int64
    /// What it stands at for the user that a value names.
    var of: @Sendable (TemplateValue) -> Int64

    static func == (left: CounterValue, right: CounterValue) -> Bool {
        left.name == right.name && left.number == right.number
    }
}

/// Text of a template of which it is not known yet where it goes.
struct MadeText: Sendable, Equatable {
    enum Piece: Sendable {
        case value(TemplateValue)
        /// What a filter makes of people's text depends on where it goes.
        case filtered(@Sendable (Destination) -> String)
    }

    let plain: String
    /// None of them is made of others, so printing takes no longer than there are pieces.
    let pieces: [Piece]

    /// Of a very long text only the beginning counts.
    static let most = (letters: 20_000, pieces: 500)

    func print(to destination: Destination) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .value(let value): text.appendPrinted(destination.print(value))
            case .filtered(let print): text.appendPrinted(print(destination))
            }
        }
        return String(text.prefix(Self.most.letters))
    }

    static func == (left: MadeText, right: MadeText) -> Bool { left.plain == right.plain }
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
        case .made(let text): text.print(to: self)
        default: value.plain
        }
    }

    /// People's text: it calls nobody and formats nothing.
    func harmless(_ text: String) -> String { escaped(Self.quiet(text)) }

    /// The text without markup; it may still call somebody.
    func escaped(_ text: String) -> String {
        switch markup {
        case .plain: return text
        case .markdown:
            return text.split(separator: "\n", omittingEmptySubsequences: false).map(Self.markdown)
                .joined(separator: "\n")
        case .html:
            return text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
        }
    }

    /// One line without Markdown, at its beginning neither.
    private static func markdown(_ line: Substring) -> String {
        var result = ""
        // Digits and a dot make a list, as "-", "+" do; "=" makes a title of the line above.
        let mayBeList = line.drop(while: \.isWhitespace).first { !($0.isASCII && $0.isNumber) }
        var isAtStart = true
        for character in line {
            let isMarker =
                isAtStart && ("-+=".contains(character) || mayBeList == character && ".)".contains(character))
            if isMarker || "\\`*_~|[]<>#&".contains(character) { result.append("\\") }
            result.append(character)
            if !character.isWhitespace, !(character.isASCII && character.isNumber) { isAtStart = false }
        }
        return result
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
        let quiet = Self.quiet(text.replacing("\n", with: " "))
        return markup == .html
            ? "<code>\(escaped(quiet))</code>" : "`" + quiet.replacing("`", with: "\u{2CB}") + "`"
    }

    func quote(_ text: String) -> String {
        if markup == .html {
            return "<blockquote>\(harmless(text).replacing("\n", with: "<br>"))</blockquote>"
        }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { "> " + harmless(String($0)) }.joined(separator: "\n")
    }
}

extension String {
    /// Puts a printed value behind the text; an "@" before it would call somebody.
    mutating func appendPrinted(_ printed: String) {
        if last == "@", !printed.isEmpty { self += Destination.breaker }
        self += printed
    }
}

extension DateFormat {
    /// `2026-03-28 22:10 UTC`.
    fileprivate static let usual = try? DateFormat("yyyy-MM-dd HH:mm z")
}
