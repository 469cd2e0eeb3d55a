import Seeds
import Testing

@testable import Zones

@Suite struct WeeklyWindows {
    private func window(_ days: String, _ between: String, _ zone: String) throws -> WeeklyWindow {
        WeeklyWindow(days: try Days(days), between: try TimeRange(between), zone: try TimeZone(named: zone))
    }

    @Test(
        arguments: [
            // Nights: usual, when the clocks go forward, when they go back, over the end of the year.
            ("mon-sun", "22:00-07:00", "Europe/Oslo", "2026-01-05T21:00:00Z", 9),
            ("mon-sun", "22:00-07:00", "Europe/Oslo", "2026-03-28T21:00:00Z", 8),
            ("mon-sun", "22:00-07:00", "Europe/Oslo", "2026-10-24T20:00:00Z", 10),
            ("mon-sun", "22:00-07:00", "Europe/Oslo", "2025-12-31T21:00:00Z", 9),
            // Weekends are one span: of 48, 47 and 49 hours.
            ("sat-sun", "00:00-24:00", "Europe/Oslo", "2026-01-09T23:00:00Z", 48),
            ("sat-sun", "00:00-24:00", "Europe/Oslo", "2026-03-27T23:00:00Z", 47),
            ("sat-sun", "00:00-24:00", "Europe/Oslo", "2026-10-23T22:00:00Z", 49),
            ("sun sat", "00:00-24:00", "America/Los_Angeles", "2026-03-07T08:00:00Z", 47),
            ("mon-fri", "09:00-17:00", "Asia/Kathmandu", "2026-01-05T03:15:00Z", 8),
            // On the leap day alone.
            ("thu", "00:00-24:00", "Europe/Oslo", "2024-02-28T23:00:00Z", 24),
            // Six days without a break.
            ("tue-sun", "00:00-24:00", "Europe/Oslo", "2026-01-05T23:00:00Z", 144),
            // From Thursday to Saturday there is no Friday.
            ("thu-sat", "00:00-24:00", "Pacific/Apia", "2011-12-29T10:00:00Z", 48),
            ("thu", "22:00-07:00", "Pacific/Apia", "2011-12-30T08:00:00Z", 2),
        ] as [(String, String, String, String, Int64)])
    func `an occurrence has its start and its end`(
        _ days: String, _ between: String, _ zone: String, _ start: String, _ hours: Int64
    ) throws {
        let window = try window(days, between, zone)
        let start = try moment(start)
        let end = start + hours * hour
        #expect(window.occurrence(at: start) == start..<end)
        #expect(window.occurrence(at: start + hours * hour / 2) == start..<end)
        #expect(window.occurrence(at: end - 1) == start..<end)
        #expect(window.occurrence(at: start - 1) == nil)
        #expect(window.occurrence(at: end) == nil)
        #expect(window.nextStart(after: start - 1) == start)
        #expect(window.contains(start) && window.contains(end - 1))
        #expect(!window.contains(start - 1) && !window.contains(end))
    }

    @Test func `a window in Lord Howe is half an hour shorter`() throws {
        let night = try window("mon-sun", "22:00-07:00", "Australia/Lord_Howe")
        let start = try moment("2026-10-03T22:00:00+10:30")
        #expect(night.occurrence(at: start) == start..<start + 17 * hour / 2)
    }

    @Test func `what lies in skipped time does not happen`() throws {
        let window = try window("sun", "02:15-02:45", "Europe/Oslo")
        #expect(!window.contains(try moment("2026-03-29T01:30:00Z")))
        #expect(!window.contains(try moment("2026-03-29T00:30:00Z")))
        #expect(
            window.nextStart(after: try moment("2026-03-22T12:00:00Z"))
                == (try moment("2026-04-05T02:15:00+02:00")))
    }

    @Test func `what lies in repeated time happens once`() throws {
        let window = try window("sun", "02:15-02:45", "Europe/Oslo")
        let start = try moment("2026-10-25T02:15:00+02:00")
        #expect(window.occurrence(at: start) == start..<start + hour / 2)
        #expect(window.occurrence(at: start + hour) == nil)
        #expect(window.nextStart(after: start) == (try moment("2026-11-01T02:15:00+01:00")))
    }

    @Test func `the next start is strictly after`() throws {
        let office = try window("mon-fri", "09:00-17:00", "Europe/Oslo")
        let friday = try moment("2026-03-27T09:00:00+01:00")
        #expect(office.nextStart(after: friday - 1) == friday)
        #expect(office.nextStart(after: friday) == (try moment("2026-03-30T09:00:00+02:00")))
        #expect(
            try window("fri", "09:00-17:00", "Europe/Oslo").nextStart(after: friday) == friday + 167 * hour)
    }

    @Test func `within a span of several days no start comes`() throws {
        let weekend = try window("sat-sun", "00:00-24:00", "Europe/Oslo")
        let saturday = try moment("2026-01-10T00:00:00+01:00")
        #expect(weekend.nextStart(after: saturday) == saturday + 168 * hour)
    }

    @Test func `a skipped day has no window`() throws {
        let friday = try window("fri", "09:00-17:00", "Pacific/Apia")
        #expect(
            friday.nextStart(after: try moment("2011-12-23T09:00:00-10:00"))
                == (try moment("2012-01-06T09:00:00+14:00")))
    }

    @Test func `a window of all days and hours is always open`() throws {
        let always = try window("mon-sun", "00:00-24:00", "Europe/Oslo")
        #expect(always.isAlwaysOpen)
        #expect(always.contains(0))
        #expect(always.occurrence(at: 0) == .min ..< .max)
        #expect(always.nextStart(after: 0) == nil)
        #expect(try !window("mon-sun", "00:00-23:59", "Europe/Oslo").isAlwaysOpen)
    }

    @Test(
        arguments: [
            "Europe/Oslo", "Australia/Lord_Howe", "Pacific/Apia", "America/Nuuk", "America/Toronto", "UTC",
            "America/Havana", "Africa/Casablanca", "America/Sao_Paulo",
        ])
    func `occurrences follow one another and hold what lies in them`(_ zone: String) throws {
        var random = SeededRandom(seed: 3)
        let times = (0..<48).map { TimeOfDay(minutes: $0 * 30).description }
        for _ in 0..<60 {
            let days = Weekday.allCases.map(\.abbreviation).filter { _ in Bool.random(using: &random) }
            guard !days.isEmpty, let start = times.randomElement(using: &random),
                let end = (times + ["24:00"]).filter({ $0 != start }).randomElement(using: &random)
            else { continue }
            let window = try window(days.joined(separator: " "), "\(start)-\(end)", zone)
            // Some months between 1914 and 2040.
            var moment = Int64.random(in: -1_767_000_000...2_208_000_000, using: &random) * 1000
            for _ in 0..<20 {
                guard let next = window.nextStart(after: moment) else { break }
                let occurrence = try #require(window.occurrence(at: next), "\(window) at \(next)")
                #expect(occurrence.lowerBound == next)
                #expect(!window.contains(next - 1))
                #expect(!window.contains(occurrence.upperBound))
                let inside = Int64.random(in: occurrence, using: &random)
                #expect(window.occurrence(at: inside) == occurrence)
                #expect(window.nextStart(after: inside).map { $0 > occurrence.upperBound } == true)
                let outside = Int64.random(in: moment...next - 1, using: &random)
                #expect(
                    window.contains(outside) == window.occurrence(at: outside).map { $0.contains(outside) }
                        ?? false)
                moment = occurrence.upperBound
            }
        }
    }
}
