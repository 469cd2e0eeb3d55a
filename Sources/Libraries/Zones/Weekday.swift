/// A day of the week, spelled `mon` to `sun` in rules.
package enum Weekday: Int, CaseIterable, Comparable, Sendable {
    case monday = 0
    case tuesday, wednesday, thursday, friday, saturday, sunday

    /// Reads `mon`.
    package init(_ text: some StringProtocol) throws(ZoneError) {
        guard let day = Self.allCases.first(where: { $0.abbreviation == text }) else {
            let start = text.lowercased().prefix(3)
            let meant = Self.allCases.first { $0.abbreviation == start }
            throw ZoneError(
                "unknown day \"\(text)\"",
                hint: meant.map { "did you mean \"\($0.abbreviation)\"?" }
                    ?? "use mon, tue, wed, thu, fri, sat or sun")
        }
        self = day
    }

    /// `Monday`.
    package var name: String {
        switch self {
        case .monday: "Monday"
        case .tuesday: "Tuesday"
        case .wednesday: "Wednesday"
        case .thursday: "Thursday"
        case .friday: "Friday"
        case .saturday: "Saturday"
        case .sunday: "Sunday"
        }
    }

    /// `mon`.
    package var abbreviation: String { String(name.lowercased().prefix(3)) }

    package static func < (left: Weekday, right: Weekday) -> Bool { left.rawValue < right.rawValue }
}
