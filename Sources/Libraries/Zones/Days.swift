/// Some days of the week, at least one.
package struct Days: Hashable, Sendable, CustomStringConvertible {
    /// A bit a day, Monday's the lowest.
    private let bits: UInt8

    package static let all = Days(bits: 0x7F)

    private init(bits: UInt8) {
        self.bits = bits
    }

    package init(_ day: Weekday) {
        bits = 1 << UInt8(day.rawValue)
    }

    /// Reads `mon`, `mon-fri`, `fri-mon`, and several of these with spaces or commas between.
    package init(_ text: String) throws(ZoneError) {
        try self.init(text.split { $0 == " " || $0 == "," }.map(String.init))
    }

    /// Reads a list of such texts.
    package init(_ texts: [String]) throws(ZoneError) {
        var bits: UInt8 = 0
        for text in texts {
            for part in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
                bits |= try Self.bits(of: part)
            }
        }
        guard bits != 0 else { throw ZoneError("no day is named", hint: "try \"mon-fri\"") }
        self.bits = bits
    }

    private static func bits(of text: Substring) throws(ZoneError) -> UInt8 {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count <= 2 else {
            throw ZoneError("\"\(text)\" is not a span of days", hint: "try \"mon-fri\"")
        }
        let first = try Weekday(ends[0])
        let last = ends.count == 2 ? try Weekday(ends[1]) : first
        let length = (last.rawValue - first.rawValue + 7) % 7
        return (0...length).reduce(0) { $0 | 1 << UInt8((first.rawValue + $1) % 7) }
    }

    package func contains(_ day: Weekday) -> Bool { bits >> UInt8(day.rawValue) & 1 == 1 }

    /// As a rule writes it: `mon-fri`, `mon wed`.
    package var description: String {
        var spans: [ClosedRange<Int>] = []
        for day in Weekday.allCases where contains(day) {
            if let last = spans.last, last.upperBound == day.rawValue - 1 {
                spans[spans.count - 1] = last.lowerBound...day.rawValue
            } else {
                spans.append(day.rawValue...day.rawValue)
            }
        }
        let names = Weekday.allCases.map(\.abbreviation)
        return spans.map { span in
            let (first, last) = (names[span.lowerBound], names[span.upperBound])
            return first == last ? first : "\(first)-\(last)"
        }.joined(separator: " ")
    }
}
