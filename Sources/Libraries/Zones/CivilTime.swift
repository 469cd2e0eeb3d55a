/// A date and what the clock on the wall shows, somewhere.
package struct CivilTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let date: CivilDate
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// Nil for what no clock shows.
    package init?(_ date: CivilDate, hour: Int, minute: Int, second: Int = 0) {
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second) else {
            return nil
        }
        self.date = date
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// `24:00` is the next day's midnight.
    package init(_ date: CivilDate, _ time: TimeOfDay) {
        self.init(seconds: Int64(date.dayNumber) * 86_400 + Int64(time.minutes) * 60)
    }

    /// By the seconds since 1970 as if it were UTC.
    init(seconds: Int64) {
        let days = floorDivide(seconds, 86_400)
        let rest = Int(seconds - days * 86_400)
        date = CivilDate(dayNumber: Int(days))
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// Since 1970 as if it were UTC.
    var seconds: Int64 { Int64(date.dayNumber) * 86_400 + Int64(hour * 3600 + minute * 60 + second) }

    package var year: Int { date.year }
    package var month: Int { date.month }
    package var day: Int { date.day }
    package var weekday: Weekday { date.weekday }
    package var dayOfYear: Int { date.dayOfYear }

    /// `2026-01-05T09:00:00`.
    package var description: String { "\(date)T\(twoDigits(hour)):\(twoDigits(minute)):\(twoDigits(second))" }

    package static func < (left: CivilTime, right: CivilTime) -> Bool { left.seconds < right.seconds }
}

/// What calendar and clock show in a zone at a moment.
@dynamicMemberLookup
package struct LocalTime: Hashable, Sendable {
    package let civil: CivilTime
    /// 0 to 999.
    package let millisecond: Int
    /// Seconds east of Greenwich.
    package let offset: Int
    /// `CET`; where people use none, the offset: `+0545`.
    package let abbreviation: String

    package subscript<Value>(dynamicMember path: KeyPath<CivilTime, Value>) -> Value { civil[keyPath: path] }
}

/// The moments, in milliseconds since 1970, at which a zone's clocks show a civil time.
package enum Moments: Hashable, Sendable {
    case once(Int64)
    /// The clocks are put forward over it, at this moment.
    case never(change: Int64)
    /// The clocks are put back over it.
    case twice(first: Int64, second: Int64)
}
