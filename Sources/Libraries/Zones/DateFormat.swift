/// How a moment is written, by the pattern letters of Unicode's CLDR that rules may use; names are English.
///
/// `yyyy yy`, `M MM MMM MMMM`, `d dd`, `E EEE EEEE`, `H HH`, `h hh`, `m mm`, `s ss`, `a`, `z` (CET), `Z` (+0100), `XXX`
/// (+01:00). Text with letters stands between single quotes; two of them are one.
package struct DateFormat: Hashable, Sendable {
    package let pattern: String
    private let pieces: [Piece]

    package init(_ pattern: String) throws(ZoneError) {
        self.pattern = pattern
        pieces = try Self.read(pattern)
    }

    /// A moment as the clocks of a zone show it.
    package func text(_ moment: Int64, in zone: TimeZone) -> String { text(zone.local(moment)) }

    package func text(_ time: LocalTime) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .field(let field): text += field.text(time)
            }
        }
        return text
    }

    private enum Piece: Hashable {
        case literal(String)
        case field(DateField)
    }

    private static func read(_ pattern: String) throws(ZoneError) -> [Piece] {
        guard !pattern.isEmpty else {
            throw ZoneError("an empty date pattern", hint: "try \"yyyy-MM-dd HH:mm\"")
        }
        var pieces: [Piece] = []
        var literal = ""
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.first {
            if scalar == "'" {
                literal += try quoted(&rest, of: pattern)
            } else if scalar.properties.isAlphabetic, scalar.isASCII {
                let letters = String(String.UnicodeScalarView(rest.prefix { $0 == scalar }))
                rest = rest.dropFirst(letters.unicodeScalars.count)
                guard let field = DateField(rawValue: letters) else { throw unknown(letters, in: pattern) }
                if !literal.isEmpty { pieces.append(.literal(literal)) }
                literal = ""
                pieces.append(.field(field))
            } else {
                literal.unicodeScalars.append(scalar)
                rest.removeFirst()
            }
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        return pieces
    }

    /// Takes what stands in quotes; `''` is a quote, in quotes too.
    private static func quoted(
        _ rest: inout Substring.UnicodeScalarView, of pattern: String
    ) throws(ZoneError) -> String {
        rest.removeFirst()
        if rest.first == "'" {
            rest.removeFirst()
            return "'"
        }
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            guard scalar == "'" else {
                text.append(scalar)
                continue
            }
            guard rest.first == "'" else { return String(text) }
            rest.removeFirst()
            text.append("'")
        }
        throw ZoneError(
            "a quote in the date pattern \"\(pattern)\" does not end", hint: "for one quote write two")
    }

    private static func unknown(_ letters: String, in pattern: String) -> ZoneError {
        let others = DateField.allCases.map(\.rawValue).filter { $0.first == letters.first }
        let hint =
            others.isEmpty
            ? "text stands in single quotes" : "use \(others.joined(separator: ", ")), or quote it"
        return ZoneError("\"\(letters)\" in the date pattern \"\(pattern)\" has no meaning", hint: hint)
    }
}

private enum DateField: String, CaseIterable {
    case yyyy, yy, M, MM, MMM, MMMM, d, dd, E, EEE, EEEE, H, HH, h, hh, m, mm, s, ss, a, z, Z, XXX

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    ]

    func text(_ time: LocalTime) -> String {
        switch self {
        case .yyyy: fourDigits(time.year)
        case .yy: twoDigits(time.year - floorDivide(time.year, 100) * 100)
        case .M: "\(time.month)"
        case .MM: twoDigits(time.month)
        case .MMM: String(Self.months[time.month - 1].prefix(3))
        case .MMMM: Self.months[time.month - 1]
        case .d: "\(time.day)"
        case .dd: twoDigits(time.day)
        case .E, .EEE: String(time.weekday.name.prefix(3))
        case .EEEE: time.weekday.name
        case .H: "\(time.hour)"
        case .HH: twoDigits(time.hour)
        case .h: "\((time.hour + 11) % 12 + 1)"
        case .hh: twoDigits((time.hour + 11) % 12 + 1)
        case .m: "\(time.minute)"
        case .mm: twoDigits(time.minute)
        case .s: "\(time.second)"
        case .ss: twoDigits(time.second)
        case .a: time.hour < 12 ? "AM" : "PM"
        case .z: time.abbreviation
        case .Z: time.offset == 0 ? "+0000" : ISO8601.offset(time.offset).filter { $0 != ":" }
        case .XXX: ISO8601.offset(time.offset)
        }
    }
}
