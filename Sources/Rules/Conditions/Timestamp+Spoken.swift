internal import Chat
internal import Zones

extension Timestamp {
    /// A moment to come as people write it behind a command: `2h`, `09:00`, `tomorrow`, `fri 18:00`, `2026-06-15 09:00`.
    ///
    /// A day without a time of day means this time of that day. Nil for what says no moment, or one that has gone by.
    init?(spoken text: String, after now: Timestamp, in zone: TimeZone) {
        let words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first, words.count <= 2,
            let moment = words.count == 2
                ? Self.time(words[1]).flatMap({ Self.moment(first, at: $0, after: now, in: zone) })
                : Self.moment(first, after: now, in: zone),
            moment > now.milliseconds, moment < Self.endOfCalendar
        else { return nil }
        self.init(milliseconds: moment)
    }

    /// Whether a word names a day, so that a time of day may stand behind it.
    static func isSpokenDay(_ word: String) -> Bool {
        let word = word.lowercased()
        return ["today", "tomorrow"].contains(word) || Weekday(spoken: word) != nil
            || (try? ISO8601.date(word)) != nil
    }

    /// The year 10000.
    private static let endOfCalendar: Int64 = 253_402_300_800_000

    private static func moment(_ word: String, after now: Timestamp, in zone: TimeZone) -> Int64? {
        if let duration = try? Duration(text: word) { return (now + duration).milliseconds }
        if let time = time(word) {
            return DailySchedule(at: time, zone: zone).next(after: now.milliseconds)
        }
        // Before what may be a date alone, which is not midnight here.
        if isSpokenDay(word) { return moment(word, at: nil, after: now, in: zone) }
        return try? ISO8601.moment(word.uppercased(), in: zone)
    }

    private static func moment(
        _ day: String, at time: TimeOfDay?, after now: Timestamp, in zone: TimeZone
    ) -> Int64? {
        let local = zone.local(now.milliseconds).civil
        func moment(of date: CivilDate) -> Int64? {
            if let time { return zone.moment(of: date, at: time) }
            return CivilTime(date, hour: local.hour, minute: local.minute, second: local.second)
                .map(zone.moment)
        }
        switch day {
        case "today": return moment(of: local.date)
        case "tomorrow": return moment(of: local.date.adding(days: 1))
        default: break
        }
        if let date = try? ISO8601.date(day) { return moment(of: date) }
        guard let weekday = Weekday(spoken: day) else { return nil }
        // Today counts while its time is still to come; and a week more, should the zone have skipped a day.
        return (0...14).lazy.map { local.date.adding(days: $0) }
            .filter { $0.weekday == weekday && zone.has($0) }
            .compactMap(moment).first { $0 > now.milliseconds }
    }

    /// `9:00` as well.
    private static func time(_ word: String) -> TimeOfDay? {
        try? TimeOfDay(word.count == 4 ? "0\(word)" : word)
    }
}

extension Weekday {
    /// `mon` or `monday`.
    fileprivate init?(spoken word: String) {
        guard
            let day = Self.allCases.first(where: { $0.abbreviation == word || $0.name.lowercased() == word })
        else { return nil }
        self = day
    }
}
