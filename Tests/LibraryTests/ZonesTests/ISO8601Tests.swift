import Seeds
import Testing

@testable import Zones

@Suite struct ISO8601Texts {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-03-28T23:10:00+01:00", 1_774_735_800_000),
            ("2026-03-28T23:10+01:00", 1_774_735_800_000), ("2026-03-28T22:10:00.5Z", 1_774_735_800_500),
            ("1969-12-31T23:59:59.9999Z", -1), ("2024-02-29T00:00:00-03:30", 1_709_177_400_000),
            ("1895-01-01T00:00:00+00:43:00", -2_366_757_780_000),
        ] as [(String, Int64)])
    func `a moment`(_ text: String, _ expected: Int64) throws {
        #expect(try ISO8601.moment(text) == expected)
    }

    @Test func `a zone stands in for the offset`() throws {
        let oslo = try TimeZone(named: "Europe/Oslo")
        #expect(try ISO8601.moment("2026-07-01T12:00:00", in: oslo) == moment("2026-07-01T10:00:00Z"))
        #expect(try ISO8601.moment("2026-07-01T12:00", in: oslo) == moment("2026-07-01T10:00:00Z"))
        #expect(try ISO8601.moment("2026-01-05", in: oslo) == moment("2026-01-04T23:00:00Z"))
        #expect(try ISO8601.moment("2026-07-01T12:00:00Z", in: oslo) == moment("2026-07-01T12:00:00Z"))
    }

    @Test(
        arguments: [
            (
                "2026-01-05",
                #""2026-01-05" does not say how far from UTC it is - write it as in "2026-03-28T23:10:00+01:00""#
            ),
            (
                "2026-01-05T10:00:00",
                #""2026-01-05T10:00:00" does not say how far from UTC it is - write it as in "2026-03-28T23:10:00+01:00""#
            ),
            ("yesterday", #""yesterday" is not a moment - write it as in "2026-03-28T23:10:00+01:00""#),
            ("", #""" is not a moment - write it as in "2026-03-28T23:10:00+01:00""#),
            (
                "2026-01-05 10:00:00Z",
                #""2026-01-05 10:00:00Z" is not a moment - write it as in "2026-03-28T23:10:00+01:00""#
            ),
            (
                "2026-01-05T10:00:00+1:00",
                #""2026-01-05T10:00:00+1:00" is not a moment - write it as in "2026-03-28T23:10:00+01:00""#
            ),
            (
                "2026-01-05T10:00:00Zx",
                #""2026-01-05T10:00:00Zx" is not a moment - write it as in "2026-03-28T23:10:00+01:00""#
            ),
            (
                "2026-01-05T10:00:00.Z",
                #""2026-01-05T10:00:00.Z" is not a moment - write it as in "2026-03-28T23:10:00+01:00""#
            ),
            ("2026-02-29T10:00:00Z", #"there is no day "2026-02-29""#),
            (
                "2026-01-05T24:00:00Z",
                #"there is no time of day as in "2026-01-05T24:00:00Z" - the last is "23:59:59""#
            ),
        ])
    func `a mistake in a moment is named`(_ text: String, _ expected: String) {
        let error = #expect(throws: ZoneError.self) { try ISO8601.moment(text) }
        #expect(error?.description == expected)
    }

    @Test func `a date`() throws {
        #expect(try ISO8601.date("2026-01-05") == CivilDate(year: 2026, month: 1, day: 5))
        let error = #expect(throws: ZoneError.self) { try ISO8601.date("5.1.2026") }
        #expect(error?.description == #""5.1.2026" is not a date - write it as in "2026-01-05""#)
    }

    @Test func `what is written reads back`() throws {
        var random = SeededRandom(seed: 13)
        let zones = try ["UTC", "Europe/Oslo", "America/St_Johns", "Asia/Kathmandu"].map {
            try TimeZone(named: $0)
        }
        for _ in 0..<2000 {
            let moment = Int64.random(in: -60_000_000_000_000...250_000_000_000_000, using: &random)
            for zone in zones { #expect(try ISO8601.moment(ISO8601.text(moment, in: zone)) == moment) }
        }
        #expect(ISO8601.text(1_774_735_800_000, in: zones[1]) == "2026-03-28T23:10:00+01:00")
        #expect(ISO8601.text(1_774_735_800_007) == "2026-03-28T22:10:00.007Z")
    }
}
