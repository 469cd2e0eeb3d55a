import Seeds
import Testing

@testable import Zones

@Suite struct DailySchedules {
    private func schedule(_ days: String, _ at: String, _ zone: String) throws -> DailySchedule {
        DailySchedule(days: try Days(days), at: try TimeOfDay(at), zone: try TimeZone(named: zone))
    }

    @Test(
        arguments: [
            // Skipped: moved to the first valid minute, and again at its time the day after.
            (
                "mon-sun", "02:30", "Europe/Oslo", "2026-03-28T00:00:00Z",
                ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
            ),
            // Repeated: the first only.
            (
                "mon-sun", "02:30", "Europe/Oslo", "2026-10-24T00:00:00Z",
                ["2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]
            ),
            (
                "mon-sun", "02:10", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
                ["2026-10-04T02:30:00+11:00", "2026-10-05T02:10:00+11:00"]
            ),
            (
                "mon-sun", "01:45", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
                ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"]
            ),
            (
                "mon-fri", "07:05", "Europe/Oslo", "2026-01-01T23:00:00Z",
                ["2026-01-02T07:05:00+01:00", "2026-01-05T07:05:00+01:00"]
            ),
            (
                "mon", "09:00", "America/New_York", "2025-12-29T14:00:00Z",
                ["2026-01-05T09:00:00-05:00", "2026-01-12T09:00:00-05:00"]
            ),
            ("thu", "12:00", "Asia/Kathmandu", "2024-02-23T00:00:00Z", ["2024-02-29T12:00:00+05:45"]),
            // There was no Friday, 2011-12-30.
            (
                "mon-sun", "09:00", "Pacific/Apia", "2011-12-29T00:00:00Z",
                ["2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00"]
            ),
            ("fri", "09:00", "Pacific/Apia", "2011-12-24T00:00:00Z", ["2012-01-06T09:00:00+14:00"]),
            // Midnight is skipped: the day starts at one.
            (
                "mon-sun", "00:00", "America/Sao_Paulo", "2018-11-03T12:00:00Z",
                ["2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"]
            ),
            // The last hour of a day is skipped: its job comes with the first minute of the next.
            (
                "mon-sun", "23:30", "America/Nuuk", "2026-03-28T12:00:00Z",
                ["2026-03-29T00:00:00-01:00", "2026-03-29T23:30:00-01:00"]
            ),
        ] as [(String, String, String, String, [String])])
    func `once each local day`(
        _ days: String, _ at: String, _ zone: String, _ after: String, _ expected: [String]
    ) throws {
        let schedule = try schedule(days, at, zone)
        var moment = try moment(after)
        for expected in expected {
            let next = schedule.next(after: moment)
            #expect(ISO8601.text(next, in: schedule.zone) == expected)
            #expect(schedule.last(atOrBefore: next) == next)
            #expect(schedule.last(atOrBefore: next - 1) <= moment)
            moment = next
        }
    }

    @Test func `the last one is found across the change of clocks`() throws {
        let handover = try schedule("mon", "09:00", "Europe/Oslo")
        #expect(
            handover.last(atOrBefore: try moment("2026-03-30T08:59:59+02:00"))
                == (try moment("2026-03-23T09:00:00+01:00")))
        #expect(
            handover.last(atOrBefore: try moment("2026-03-30T09:00:00+02:00"))
                == (try moment("2026-03-30T09:00:00+02:00")))
    }

    @Test(arguments: ["Europe/Oslo", "Australia/Lord_Howe", "America/Nuuk", "America/Toronto", "Asia/Tehran"])
    func `never twice and never left out in twelve years`(_ zone: String) throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<3 {
            let time = TimeOfDay(minutes: Int.random(in: 0..<1440, using: &random))
            let schedule = DailySchedule(at: time, zone: try TimeZone(named: zone))
            var moment = try moment("2015-06-01T00:00:00Z")
            moment = schedule.next(after: moment)
            var date = schedule.zone.date(at: moment)
            for _ in 0..<4400 {
                let next = schedule.next(after: moment)
                date = date.adding(days: 1)
                guard next == schedule.zone.moment(of: date, at: time), next - moment > 20 * hour,
                    next - moment < 28 * hour
                else {
                    Issue.record(
                        "\(ISO8601.text(next)) follows \(ISO8601.text(moment)) at \(time) in \(zone)")
                    return
                }
                moment = next
            }
        }
    }
}
