/// What the clock on the wall shows, to the minute.
package struct TimeOfDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Since midnight; 1440 only as the end of a `TimeRange`.
    package let minutes: Int

    package static let midnight = TimeOfDay(minutes: 0)
    static let endOfDay = TimeOfDay(minutes: 1440)

    init(minutes: Int) {
        self.minutes = minutes
    }

    /// Nil for what no clock shows.
    package init?(hour: Int, minute: Int) {
        guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
        minutes = hour * 60 + minute
    }

    /// Reads `09:00`.
    package init(_ text: some StringProtocol) throws(ZoneError) {
        let time = try Self(orEndOfDay: text)
        guard time != .endOfDay else {
            throw ZoneError("24:00 can only end a span of time", hint: "write \"00:00\" for midnight")
        }
        self = time
    }

    init(orEndOfDay text: some StringProtocol) throws(ZoneError) {
        let bytes = Array(text.utf8)
        let digits = bytes.map { Int($0) - 48 }
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) })
        else {
            throw ZoneError("\"\(text)\" is not a time of day", hint: "write it as in \"09:00\"")
        }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
        guard let time = Self(hour: hour, minute: minute) ?? (hour == 24 && minute == 0 ? .endOfDay : nil)
        else {
            throw ZoneError("there is no time \"\(text)\"", hint: "the last of a day is \"23:59\"")
        }
        self = time
    }

    package var hour: Int { minutes / 60 }
    package var minute: Int { minutes % 60 }

    package var description: String { "\(twoDigits(hour)):\(twoDigits(minute))" }

    package static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.minutes < right.minutes }
}

/// A span of the day; one whose end is not after its start goes on to the next day.
package struct TimeRange: Hashable, Sendable, CustomStringConvertible {
    package let start: TimeOfDay
    /// Does not belong to the span.
    package let end: TimeOfDay

    package static let wholeDay = TimeRange(start: .midnight, end: .endOfDay)

    private init(start: TimeOfDay, end: TimeOfDay) {
        self.start = start
        self.end = end
    }

    /// Reads `22:00-07:00`; `24:00` may be the end.
    package init(_ text: String) throws(ZoneError) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else {
            throw ZoneError("\"\(text)\" is not a span of time", hint: "write it as in \"22:00-07:00\"")
        }
        start = try TimeOfDay(ends[0])
        let end = try TimeOfDay(orEndOfDay: ends[1])
        guard end != start else {
            throw ZoneError("\"\(text)\" ends where it starts", hint: "a whole day is \"00:00-24:00\"")
        }
        self.end = end == .midnight ? .endOfDay : end
    }

    package var crossesMidnight: Bool { end < start }

    package var description: String { "\(start)-\(end)" }
}

/// `7` as `07`.
func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
