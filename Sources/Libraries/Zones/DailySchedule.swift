/// A time of day on some days of the week in a zone.
///
/// It comes once each such day, whatever the clocks do: at the first valid minute after if they are put forward over
/// it, and the first time if they are put back over it. A day that the zone skips has none.
package struct DailySchedule: Hashable, Sendable {
    package let days: Days
    package let at: TimeOfDay
    package let zone: TimeZone

    package init(days: Days = .all, at time: TimeOfDay, zone: TimeZone) {
        self.days = days
        self.at = time
        self.zone = zone
    }

    /// When it next comes, strictly after a moment.
    package func next(after moment: Int64) -> Int64 {
        search(from: moment, step: 1) { $0 > moment } ?? .max
    }

    /// When it last came; at the moment itself counts.
    package func last(atOrBefore moment: Int64) -> Int64 {
        search(from: moment, step: -1) { $0 <= moment } ?? .min
    }

    private func search(from moment: Int64, step: Int, until fits: (Int64) -> Bool) -> Int64? {
        var date = zone.date(at: moment).adding(days: -step)
        // A week on either side; and another, should the zone have skipped the day.
        for _ in 0..<20 {
            if days.contains(date.weekday), zone.has(date) {
                let found = zone.moment(of: date, at: at)
                if fits(found) { return found }
            }
            date = date.adding(days: step)
        }
        return nil
    }
}
