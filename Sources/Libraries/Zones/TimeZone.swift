internal import CCctz

/// The rules by which the clocks of a place are set, of the system's time zone data.
///
/// A moment is a number of milliseconds since 1970 in UTC. A zone's data is read once in a process.
package struct TimeZone: Hashable, Sendable, CustomStringConvertible {
    package let name: String
    private let data: ZoneData

    package static let utc = TimeZone(name: "UTC", data: ZoneData(utc: ()))

    /// The zone of that name in the system's data: `Europe/Oslo`.
    package init(named name: String) throws(ZoneError) {
        guard name != Self.utc.name else {
            self = .utc
            return
        }
        // Not asked of cctz at once: it takes paths, and remembers each name that it did not find.
        guard ZoneNames.exists(name), let data = ZoneData(name) else { throw ZoneNames.unknown(name) }
        self.init(name: name, data: data)
    }

    private init(name: String, data: ZoneData) {
        self.name = name
        self.data = data
    }

    package func local(_ moment: Int64) -> LocalTime {
        let seconds = floorDivide(moment, 1000)
        let (offset, abbreviation) = data.offset(at: seconds)
        // The first second that 64 bits of milliseconds can tell starts before the first of these.
        let millisecond = Int(moment &- seconds &* 1000)
        return LocalTime(
            civil: CivilTime(seconds: seconds + Int64(offset)), millisecond: millisecond,
            offset: offset, abbreviation: abbreviation)
    }

    /// The day that it is in the zone at a moment.
    package func date(at moment: Int64) -> CivilDate { local(moment).date }

    package func moments(of civil: CivilTime) -> Moments { data.moments(of: civil.seconds) }

    /// The moment of a civil time: the first if there are two; where the clocks are put forward over it, that moment,
    /// which is the first valid minute after.
    package func moment(of civil: CivilTime) -> Int64 {
        switch moments(of: civil) {
        case .once(let moment), .never(change: let moment), .twice(first: let moment, _): moment
        }
    }

    package func moment(of date: CivilDate, at time: TimeOfDay) -> Int64 { moment(of: CivilTime(date, time)) }

    /// Whether the zone ever had that day: a place that crosses the date line skips one.
    package func has(_ date: CivilDate) -> Bool { self.date(at: moment(of: date, at: .midnight)) == date }

    package var description: String { name }

    package static func == (left: TimeZone, right: TimeZone) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

/// A zone of cctz, which frees it when nobody needs it any more.
private final class ZoneData: Sendable {
    // Not changed after it was made, and cctz takes questions from all threads at once.
    private nonisolated(unsafe) let zone: OpaquePointer?

    /// Without a zone of cctz there is no offset.
    init(utc: Void) {
        zone = nil
    }

    init?(_ name: String) {
        guard let zone = ccctz_open(name) else { return nil }
        self.zone = zone
    }

    deinit {
        if let zone { ccctz_free(zone) }
    }

    func offset(at seconds: Int64) -> (seconds: Int, abbreviation: String) {
        guard let zone else { return (0, "UTC") }
        let found = ccctz_offset(zone, seconds)
        return (Int(found.offset), found.abbreviation.map { String(cString: $0) } ?? "")
    }

    func moments(of civil: Int64) -> Moments {
        guard let zone else { return .once(milliseconds(civil)) }
        let found = ccctz_moments(zone, civil)
        return switch found.kind {
        case CCctzSkipped: .never(change: milliseconds(found.change))
        case CCctzRepeated: .twice(first: milliseconds(found.before), second: milliseconds(found.after))
        default: .once(milliseconds(found.before))
        }
    }

    private func milliseconds(_ seconds: Int64) -> Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : product
    }
}
