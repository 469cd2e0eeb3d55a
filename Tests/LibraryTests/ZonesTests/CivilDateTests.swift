import Testing

@testable import Zones

@Suite struct CivilDates {
    @Test(
        arguments: [
            (1970, 1, 1, Weekday.thursday, 1, 0), (2026, 1, 5, .monday, 5, 20458),
            (2025, 12, 31, .wednesday, 365, 20453), (2024, 2, 29, .thursday, 60, 19782),
            (2024, 12, 31, .tuesday, 366, 20088), (2000, 2, 29, .tuesday, 60, 11016),
            (1969, 12, 31, .wednesday, 365, -1), (1, 1, 1, .monday, 1, -719_162),
            (9999, 12, 31, .friday, 365, 2_932_896),
        ])
    func `a date has a weekday and a place in its year`(
        _ year: Int, _ month: Int, _ day: Int, _ weekday: Weekday, _ dayOfYear: Int, _ number: Int
    ) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(date.weekday == weekday)
        #expect(date.dayOfYear == dayOfYear)
        #expect(date.dayNumber == number)
        #expect(CivilDate(dayNumber: number) == date)
    }

    @Test(arguments: [
        (2026, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (0, 1, 1),
    ])
    func `a day that is in no calendar is refused`(_ year: Int, _ month: Int, _ day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test func `days are added over months, leap days and years`() throws {
        let eve = try ISO8601.date("2023-12-31")
        #expect(eve.adding(days: 1).description == "2024-01-01")
        #expect(eve.adding(days: 60).description == "2024-02-29")
        #expect(eve.adding(days: -365).description == "2022-12-31")
        #expect(eve.days(to: try ISO8601.date("2024-12-31")) == 366)
        #expect(eve.adding(days: .max) > eve)
        #expect(eve.adding(days: .min) < eve)
    }

    @Test func `each day follows the one before`() {
        var date = CivilDate(dayNumber: -150_000)
        for number in -149_999...200_000 {
            let next = CivilDate(dayNumber: number)
            let isNextDay = (next.year, next.month, next.day) == (date.year, date.month, date.day + 1)
            let isNextMonth = (next.year, next.month, next.day) == (date.year, date.month + 1, 1)
            let isNextYear =
                (next.year, next.month, next.day) == (date.year + 1, 1, 1)
                && (date.month, date.day) == (12, 31)
            guard isNextDay || isNextMonth || isNextYear, next.dayNumber == number, date < next else {
                Issue.record("\(next) follows \(date)")
                return
            }
            date = next
        }
    }
}
