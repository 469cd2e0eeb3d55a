/// Durations as people write them: `500ms`, `10m`, `90d`.
enum DurationText {
    private static let units: [(String, Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
    ]

    /// Nil when the text is not a number and a unit.
    static func read(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits),
            let unit = units.first(where: { $0.0 == text.dropFirst(digits.count) }),
            case let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.1), !overflow
        else { return nil }
        return .milliseconds(milliseconds)
    }
}
