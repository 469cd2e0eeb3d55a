internal import Glibc

/// A moment, in whole milliseconds since 1970 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
    /// Since 1970-01-01 00:00 UTC; less than 0 before that.
    public let milliseconds: Int64

    /// Since 1970-01-01 00:00 UTC.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// What the system's clock says.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Later than anything that happens.
    public static let never = Timestamp(milliseconds: .max)

    /// Whether the first comes before the second.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment `duration` later; `never` stays `never`.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = moment.milliseconds.addingReportingOverflow(duration.milliseconds)
        return overflow ? .never : Timestamp(milliseconds: sum)
    }

    /// The moment `duration` earlier.
    public static func - (moment: Timestamp, duration: Duration) -> Timestamp {
        moment + .milliseconds(-duration.milliseconds)
    }

    /// The time between the two; negative when `later` is earlier.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds.subtractingReportingOverflow(earlier.milliseconds).partialValue)
    }

    /// Reads one number, the milliseconds.
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes one number, the milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; very long durations stop at the largest number.
    public var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : whole + attoseconds / 1_000_000_000_000_000
    }
}
