internal import Chat
internal import Zones

/// What can be done to a value on its way into a text.
struct TemplateFilter: Sendable {
    typealias Apply = @Sendable (TemplateValue, [TemplateValue], Destination) -> TemplateValue

    let name: String
    /// One line for the manual.
    let about: String
    /// How many arguments it takes.
    let arguments: ClosedRange<Int>
    var wantsNumber = false
    /// The kinds of values it can be used on; nil for any.
    let takes: Set<TemplateValue.Kind>?
    let gives: TemplateValue.Kind
    let apply: Apply

    init(
        _ name: String, _ about: String, arguments: ClosedRange<Int> = 0...0, wantsNumber: Bool = false,
        on takes: Set<TemplateValue.Kind>? = nil, gives: TemplateValue.Kind = .text, _ apply: @escaping Apply
    ) {
        self.name = name
        self.about = about
        self.arguments = arguments
        self.wantsNumber = wantsNumber
        self.takes = takes
        self.gives = gives
        self.apply = { value, arguments, destination in
            // Of all filters only "of" knows more of a counter than its number.
            if name != "of", case .counter(let counter) = value {
                return apply(.number(counter.number), arguments, destination)
            }
            return apply(value, arguments, destination)
        }
    }

    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Filters that the language has and steward has not built yet.
    static let later: Set<String> = []

    static let all: [TemplateFilter] = [
        TemplateFilter("upper", "In capitals.") { value, _, _ in value.mapText { $0.uppercased() } },
        TemplateFilter("lower", "In small letters.") { value, _, _ in value.mapText { $0.lowercased() } },
        TemplateFilter("title", "Each word with a capital.") { value, _, _ in
            value.mapText { text in
                text.split(separator: " ", omittingEmptySubsequences: false)
                    .map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }.joined(separator: " ")
            }
        },
        TemplateFilter("trim", "Without white space around it.") { value, _, _ in value.mapText { $0.trimmed }
        },
        TemplateFilter("truncate", "At most that many letters.", arguments: 1...1, wantsNumber: true) {
            value, arguments, _ in
            let most = Int(clamping: max(1, arguments[0].asNumber ?? 1))
            return value.mapText { $0.count <= most ? $0 : $0.prefix(most - 1) + "…" }
        },
        TemplateFilter("default", "Something else when it is empty.", arguments: 1...1) {
            value, arguments, _ in
            value.isEmpty ? arguments[0] : value
        },
        TemplateFilter("join", "The items of a list as one text.", arguments: 0...1) { value, arguments, to in
            guard case .list(let items) = value else { return value }
            let parts = items.map(to.print)
            guard let between = arguments.first?.plain else { return .ours(TemplateValue.series(parts)) }
            return .ours(
                parts.joined(separator: between.last == "@" ? between + Destination.breaker : between))
        },
        TemplateFilter("count", "How many items, or letters of a text.", gives: .number) { value, _, _ in
            if case .list(let items) = value { return .number(Int64(items.count)) }
            return .number(Int64(value.plain.count))
        },
        TemplateFilter("first", "The first item, or word of a text.") { value, _, _ in
            if case .list(let items) = value { return items.first ?? .absent }
            return value.mapText { $0.split { $0.isWhitespace }.first.map(String.init) ?? "" }
        },
        TemplateFilter("last", "The last item, or word of a text.") { value, _, _ in
            if case .list(let items) = value { return items.last ?? .absent }
            return value.mapText { $0.split { $0.isWhitespace }.last.map(String.init) ?? "" }
        },
        TemplateFilter("after", "What stands behind a text in it.", arguments: 1...1) { value, arguments, _ in
            value.mapText { text in
                text.caselessRange(of: arguments[0].plain).map { String(text[$0.upperBound...]) } ?? ""
            }
        },
        TemplateFilter("before", "What stands before a text in it.", arguments: 1...1) {
            value, arguments, _ in
            value.mapText { text in
                text.caselessRange(of: arguments[0].plain).map { String(text[..<$0.lowerBound]) } ?? text
            }
        },
        TemplateFilter("replace", "Each of one text by another.", arguments: 2...2) { value, arguments, _ in
            value.mapText {
                arguments[0].plain.isEmpty ? $0 : $0.replacing(arguments[0].plain, with: arguments[1].plain)
            }
        },
        TemplateFilter("plural", "The number and the word for one or many.", arguments: 2...2, on: [.number])
        {
            value, arguments, _ in
            .ours("\(value.plain) \(arguments[value == .number(1) ? 0 : 1].plain)")
        },
        TemplateFilter("duration", "In words: 3 days 2 hours.", on: [.duration]) { value, _, _ in value },
        TemplateFilter(
            "date", "A moment in the letters of CLDR, and in a zone: date('EEE HH:mm', 'Europe/Oslo').",
            arguments: 1...2, on: [.time]
        ) { value, arguments, _ in
            guard case .time(let time, let own) = value, let format = try? DateFormat(arguments[0].plain)
            else { return value }
            let zone = arguments.count > 1 ? try? TimeZone(named: arguments[1].plain) : own
            return .ours(format.text(time.milliseconds, in: zone ?? .utc))
        },
        TemplateFilter(
            "of", "A counter for the first of these users that there is.", arguments: 1...8, on: [.number],
            gives: .number
        ) { value, arguments, _ in
            guard case .counter(let counter) = value else { return value }
            return arguments.first { !$0.isEmpty }.map { .number(counter.of($0)) } ?? .number(0)
        },
        TemplateFilter("code", "As code that cannot be broken out of.") { value, _, to in
            .ours(to.code(value.plain))
        },
        TemplateFilter("quote", "Each line behind >.") { value, _, to in .ours(to.quote(value.plain)) },
        TemplateFilter("json", "As a JSON string.") { value, _, _ in
            .ours(Destination.quiet(value.plain).asJSON)
        },
        TemplateFilter("url", "Safe in an address.") { value, _, _ in .ours(value.plain.percentEncoded) },
        TemplateFilter("mention", "@name; it calls who is named in mention:.", on: [.user, .list]) {
            value, _, _ in
            if case .list(let items) = value { return .list(items.map(\.asMention)) }
            return value.asMention
        },
        TemplateFilter(
            "names", "The first so many names, and how many others.", arguments: 1...1, wantsNumber: true,
            on: [.user, .list]
        ) {
            value, arguments, to in
            guard case .list(let items) = value else { return value }
            let most = Int(clamping: max(1, arguments[0].asNumber ?? 1))
            let rest = items.count - most
            var parts = items.prefix(most).map(to.print)
            if rest > 0 { parts.append("\(rest) other\(rest == 1 ? "" : "s")") }
            return .ours(TemplateValue.series(parts))
        },
    ]
}

extension TemplateValue {
    /// The text changed, still ours or theirs; other values become their text first.
    fileprivate func mapText(_ change: (String) -> String) -> TemplateValue {
        switch self {
        case .absent: .absent
        case .ours(let text): .ours(change(text))
        case .list(let items): .list(items.map { $0.mapText(change) })
        case .number, .time, .duration, .counter: .ours(change(plain))
        case .theirs, .user, .mention, .channel, .made: .theirs(change(plain))
        }
    }

    fileprivate var asMention: TemplateValue {
        guard case .user(let id, let name) = self else { return self }
        return .mention(id: id, name: name)
    }

    fileprivate var asNumber: Int64? {
        switch self {
        case .number(let number): number
        default: Int64(plain)
        }
    }
}

extension String {
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// The first place of a text, capitals or not.
    fileprivate func caselessRange(of other: String) -> Range<String.Index>? {
        guard !other.isEmpty else { return nil }
        if let exact = firstRange(of: other) { return exact }
        let wanted = other.map { $0.lowercased() }
        var start = startIndex
        while start < endIndex {
            var (index, matched) = (start, 0)
            while index < endIndex, matched < wanted.count, self[index].lowercased() == wanted[matched] {
                index = self.index(after: index)
                matched += 1
            }
            if matched == wanted.count { return start..<index }
            start = self.index(after: start)
        }
        return nil
    }

    fileprivate var asJSON: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.value < 0x20 {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    fileprivate var percentEncoded: String {
        var result = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}
