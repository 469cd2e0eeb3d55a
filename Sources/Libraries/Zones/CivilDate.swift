/// A day of the Gregorian calendar, which is taken to hold at all times.
package struct CivilDate: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int

    /// Nil for a day that is in no calendar, and outside the years 1 to 9999.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month),
            (1...Self.length(ofMonth: month, year: year)).contains(day)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// How many days it lies after 1970-01-01; before it, a negative number.
    package var dayNumber: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The day of a number; those that lie more than two billion years away all stand for the last of these.
    package init(dayNumber: Int) {
        // Days and years from March on, in eras of 400 years: Howard Hinnant, "chrono-compatible low-level date
        // algorithms".
        let shifted = min(max(dayNumber, -Self.farthest), Self.farthest) + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Every moment that 64 bits of milliseconds can tell lies well within, so that the days beside it are others.
    private static let farthest = 1_000_000_000_000

    package var weekday: Weekday {
        let days = dayNumber + 3  // 1970-01-01 was a Thursday
        return Weekday.allCases[days - floorDivide(days, 7) * 7]
    }

    /// 1 to 366.
    package var dayOfYear: Int {
        (1..<month).reduce(day) { $0 + Self.length(ofMonth: $1, year: year) }
    }

    /// The day so many days later, or earlier if negative.
    package func adding(days: Int) -> CivilDate {
        let (sum, overflow) = dayNumber.addingReportingOverflow(days)
        return CivilDate(dayNumber: overflow ? (days < 0 ? .min : .max) : sum)
    }

    /// How many days it is to `other`; negative if that is earlier.
    package func days(to other: CivilDate) -> Int { other.dayNumber - dayNumber }

    /// `2026-01-05`.
    package var description: String { "\(fourDigits(year))-\(twoDigits(month))-\(twoDigits(day))" }

    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Divides and rounds down, not towards zero.
func floorDivide<Number: BinaryInteger>(_ number: Number, _ divisor: Number) -> Number {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}

/// `7` as `0007`.
func fourDigits(_ number: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
