import Seeds
import Testing

@testable import Zones

@Suite struct TimeZones {
    @Test(
        arguments: [
            ("Europe/Oslo", "2026-01-05T08:00:00Z", "2026-01-05T09:00:00", 3600, "CET"),
            ("Europe/Oslo", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59", 3600, "CET"),
            ("Europe/Oslo", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00", 7200, "CEST"),
            ("Europe/Oslo", "2026-10-25T00:59:59Z", "2026-10-25T02:59:59", 7200, "CEST"),
            ("Europe/Oslo", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00", 3600, "CET"),
            ("Australia/Lord_Howe", "2026-01-01T00:00:00Z", "2026-01-01T11:00:00", 39_600, "+11"),
            ("Australia/Lord_Howe", "2026-07-01T00:00:00Z", "2026-07-01T10:30:00", 37_800, "+1030"),
            ("Asia/Kathmandu", "2026-07-01T00:00:00Z", "2026-07-01T05:45:00", 20_700, "+0545"),
            ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T23:59:59", -36_000, "-10"),
            ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00", 50_400, "+14"),
            ("America/New_York", "2026-01-01T04:59:59Z", "2025-12-31T23:59:59", -18_000, "EST"),
            ("America/St_Johns", "2026-01-01T00:00:00Z", "2025-12-31T20:30:00", -12_600, "NST"),
            ("Europe/Dublin", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00", 0, "GMT"),
            ("Europe/Oslo", "2090-07-01T00:00:00Z", "2090-07-01T02:00:00", 7200, "CEST"),
            ("UTC", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59", 0, "UTC"),
        ] as [(String, String, String, Int, String)])
    func `clocks show the civil time of a moment`(
        _ zone: String, _ at: String, _ shown: String, _ offset: Int, _ abbreviation: String
    ) throws {
        let local = try TimeZone(named: zone).local(moment(at))
        #expect(
            local
                == LocalTime(
                    civil: try civil(shown), millisecond: 0, offset: offset, abbreviation: abbreviation))
    }

    @Test func `a local time has all its parts`() throws {
        let local = try TimeZone(named: "Asia/Kathmandu").local(-1)
        #expect(local.date == CivilDate(year: 1970, month: 1, day: 1))
        #expect((local.year, local.month, local.day) == (1970, 1, 1))
        #expect((local.hour, local.minute, local.second, local.millisecond) == (5, 29, 59, 999))
        #expect((local.weekday, local.dayOfYear) == (.thursday, 1))
    }

    @Test func `a skipped time becomes the first valid minute after`() throws {
        let oslo = try TimeZone(named: "Europe/Oslo")
        let change = try moment("2026-03-29T03:00:00+02:00")
        #expect(oslo.moments(of: try civil("2026-03-29T02:30:00")) == .never(change: change))
        #expect(oslo.moment(of: try civil("2026-03-29T02:00:00")) == change)
        #expect(oslo.moment(of: try civil("2026-03-29T02:59:59")) == change)
        #expect(oslo.moments(of: try civil("2026-03-29T03:00:00")) == .once(change))

        let lordHowe = try TimeZone(named: "Australia/Lord_Howe")
        let thirtyMinutes = try moment("2026-10-04T02:30:00+11:00")
        #expect(lordHowe.moments(of: try civil("2026-10-04T02:15:00")) == .never(change: thirtyMinutes))
        #expect(lordHowe.moments(of: try civil("2026-10-04T02:30:00")) == .once(thirtyMinutes))
    }

    @Test func `a repeated time is the first of the two`() throws {
        let oslo = try TimeZone(named: "Europe/Oslo")
        let (first, second) = (
            try moment("2026-10-25T02:30:00+02:00"), try moment("2026-10-25T02:30:00+01:00")
        )
        #expect(oslo.moments(of: try civil("2026-10-25T02:30:00")) == .twice(first: first, second: second))
        #expect(oslo.moment(of: try civil("2026-10-25T02:30:00")) == first)

        let lordHowe = try TimeZone(named: "Australia/Lord_Howe")
        #expect(
            lordHowe.moments(of: try civil("2026-04-05T01:45:00"))
                == .twice(
                    first: try moment("2026-04-05T01:45:00+11:00"),
                    second: try moment("2026-04-05T01:45:00+10:30")))
    }

    @Test func `a day that a zone skipped is none`() throws {
        let apia = try TimeZone(named: "Pacific/Apia")
        let days = (29...31).compactMap { CivilDate(year: 2011, month: 12, day: $0) }
        #expect(days.map(apia.has) == [true, false, true])
        #expect(apia.moment(of: days[1], at: .midnight) == (try moment("2011-12-31T00:00:00+14:00")))
        #expect(days.map(TimeZone.utc.has) == [true, true, true])
    }

    /// Whole seconds of the years 1900 to 2200.
    private let centuries: ClosedRange<Int64> = -2_208_988_800...7_258_118_400

    @Test func `from a moment to its civil time and back`() throws {
        var random = SeededRandom(seed: 7)
        for zone in try ZoneNames.all().map({ try TimeZone(named: $0) }) {
            for _ in 0..<100 {
                let moment = Int64.random(in: centuries, using: &random) * 1000
                let found = zone.moments(of: zone.local(moment).civil)
                let isBack =
                    switch found {
                    case .once(let only): only == moment
                    case .twice(let first, let second):
                        first < second && (first == moment || second == moment)
                    case .never: false
                    }
                if !isBack { Issue.record("\(ISO8601.text(moment)) in \(zone) comes back as \(found)") }
            }
        }
    }

    @Test func `from a civil time to its moment and back`() throws {
        var random = SeededRandom(seed: 11)
        for zone in try ZoneNames.all().map({ try TimeZone(named: $0) }) {
            for _ in 0..<100 {
                let civil = CivilTime(seconds: Int64.random(in: centuries, using: &random))
                let found = zone.moments(of: civil)
                let isBack =
                    switch found {
                    case .once(let moment): zone.local(moment).civil == civil
                    case .twice(let first, let second):
                        zone.local(first).civil == civil && zone.local(second).civil == civil
                    case .never(let change):
                        zone.local(change - 1).civil < civil && zone.local(change).civil > civil
                    }
                if !isBack { Issue.record("\(civil) in \(zone) is \(found)") }
            }
        }
    }

    @Test(arguments: ["Europe/Oslo", "America/New_York", "Pacific/Apia", "UTC"])
    func `the farthest moments are times too`(_ name: String) throws {
        let zone = try TimeZone(named: name)
        let window = WeeklyWindow(between: try TimeRange("22:00-07:00"), zone: zone)
        let schedule = DailySchedule(at: .midnight, zone: zone)
        for moment in [Int64.min, .min + 1, .max - 1, .max] {
            let local = zone.local(moment)
            #expect((local.year > 0) == (moment > 0))
            _ = window.occurrence(at: moment)
            _ = window.nextStart(after: moment)
            #expect(schedule.next(after: moment) >= moment)
            #expect(schedule.last(atOrBefore: moment) <= moment)
        }
    }

    @Test func `zones are equal by name`() throws {
        #expect(try TimeZone(named: "Europe/Oslo") == TimeZone(named: "Europe/Oslo"))
        #expect(try TimeZone(named: "Europe/Oslo") != TimeZone(named: "Europe/Berlin"))
        #expect(try TimeZone(named: "UTC") == .utc)
    }

    @Test func `many threads may ask at once`() async throws {
        let names = Array(ZoneNames.all().prefix(40))
        let moment = try moment("2026-07-01T00:00:00Z")
        let expected = try names.map { try TimeZone(named: $0).local(moment) }
        try await withThrowingTaskGroup(of: [LocalTime].self) { group in
            for _ in 0..<8 {
                group.addTask { try names.map { try TimeZone(named: $0).local(moment) } }
            }
            for try await found in group { #expect(found == expected) }
        }
    }
}
