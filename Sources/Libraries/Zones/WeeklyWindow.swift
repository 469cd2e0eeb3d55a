/// A span of time that comes back on some days of the week in a zone: office hours, the night, the weekend.
///
/// It begins on its days and may cross midnight. When the clocks change it is shorter or longer; what lies wholly in
/// skipped time does not happen, an end that is shown twice is the first of the two. Spans that touch are one: the
/// whole of Saturday and the whole of Sunday are one weekend.
package struct WeeklyWindow: Hashable, Sendable {
    package let days: Days
    package let between: TimeRange
    package let zone: TimeZone

    package init(days: Days = .all, between: TimeRange, zone: TimeZone) {
        self.days = days
        self.between = between
        self.zone = zone
    }

    /// Whether it has neither start nor end.
    package var isAlwaysOpen: Bool { days == .all && between == .wholeDay }

    package func contains(_ moment: Int64) -> Bool {
        isAlwaysOpen || day(of: moment) != nil
    }

    /// The span that a moment lies in: its start, and its end, which does not belong to it. That of a window that is
    /// always open goes from the smallest number to the largest.
    package func occurrence(at moment: Int64) -> Range<Int64>? {
        guard !isAlwaysOpen else { return .min ..< .max }
        guard var first = day(of: moment), let found = span(on: first) else { return nil }
        var last = first
        var (start, end) = (found.lowerBound, found.upperBound)
        while let (day, earlier) = neighbour(of: first, -1), earlier.upperBound >= start {
            (first, start) = (day, min(start, earlier.lowerBound))
        }
        while let (day, later) = neighbour(of: last, 1), later.lowerBound <= end {
            (last, end) = (day, max(end, later.upperBound))
        }
        return start..<end
    }

    /// When it next starts, strictly after a moment; nil for a window that is always open.
    package func nextStart(after moment: Int64) -> Int64? {
        guard !isAlwaysOpen else { return nil }
        var date = zone.date(at: moment).adding(days: -1)
        // A week and a skipped day; and a second week, should the skipped day have been the only one.
        for _ in 0..<20 {
            if let span = span(on: date), span.lowerBound > moment,
                neighbour(of: date, -1).map({ $0.span.upperBound < span.lowerBound }) ?? true
            {
                return span.lowerBound
            }
            date = date.adding(days: 1)
        }
        return nil
    }

    /// The day on which the span began that a moment lies in.
    private func day(of moment: Int64) -> CivilDate? {
        let today = zone.date(at: moment)
        // The day before yesterday: a skipped day may lie between.
        for back in 0...2 {
            let date = today.adding(days: -back)
            if span(on: date)?.contains(moment) == true { return date }
        }
        // Clocks that are put back over midnight bring yesterday again.
        let tomorrow = today.adding(days: 1)
        return span(on: tomorrow)?.contains(moment) == true ? tomorrow : nil
    }

    /// The next day, in one direction, that has a span; a day that the zone skipped is passed over.
    private func neighbour(of date: CivilDate, _ step: Int) -> (day: CivilDate, span: Range<Int64>)? {
        for distance in 1...2 {
            let day = date.adding(days: distance * step)
            if let span = span(on: day) { return (day, span) }
            if zone.has(day) { return nil }
        }
        return nil
    }

    /// What begins on a day.
    private func span(on date: CivilDate) -> Range<Int64>? {
        guard days.contains(date.weekday) else { return nil }
        let start = zone.moment(of: date, at: between.start)
        let end = zone.moment(of: between.crossesMidnight ? date.adding(days: 1) : date, at: between.end)
        return start < end ? start..<end : nil
    }
}
