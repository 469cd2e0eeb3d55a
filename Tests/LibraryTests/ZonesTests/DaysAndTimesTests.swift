import Testing

@testable import Zones

@Suite struct DaysAndTimes {
    @Test(
        arguments: [
            ("mon", "mon"), ("mon-fri", "mon-fri"), ("sat-sun", "sat-sun"), ("fri-mon", "mon fri-sun"),
            ("mon, wed", "mon wed"), ("mon wed-thu", "mon wed-thu"), ("mon-sun", "mon-sun"),
            ("tue-mon", "mon-sun"),
        ])
    func `days of the week`(_ text: String, _ expected: String) throws {
        #expect(try Days(text).description == expected)
    }

    @Test func `a list of days`() throws {
        #expect(try Days(["mon-wed", "sun"]) == Days("sun mon tue wed"))
        #expect(try Days("mon-sun") == .all)
        #expect(try Weekday.allCases.filter(Days("sat-sun").contains) == [.saturday, .sunday])
        #expect(try Days(.friday) == Days("fri"))
    }

    @Test(
        arguments: [
            ("monday", #"unknown day "monday" - did you mean "mon"?"#),
            ("Sat-sun", #"unknown day "Sat" - did you mean "sat"?"#),
            ("mo", #"unknown day "mo" - use mon, tue, wed, thu, fri, sat or sun"#),
            ("mon-", #"unknown day "" - use mon, tue, wed, thu, fri, sat or sun"#),
            ("mon-wed-fri", #""mon-wed-fri" is not a span of days - try "mon-fri""#),
            ("", #"no day is named - try "mon-fri""#),
        ])
    func `a mistake in days is named`(_ text: String, _ expected: String) {
        let error = #expect(throws: ZoneError.self) { try Days(text) }
        #expect(error?.description == expected)
    }

    @Test func `a time of day`() throws {
        let time = try TimeOfDay("09:05")
        #expect((time.hour, time.minute, time.minutes) == (9, 5, 545))
        #expect(time.description == "09:05")
        #expect(try TimeOfDay("00:00") == .midnight)
        #expect(TimeOfDay(hour: 23, minute: 60) == nil)
    }

    @Test(
        arguments: [
            ("9:00", #""9:00" is not a time of day - write it as in "09:00""#),
            ("09:00 ", #""09:00 " is not a time of day - write it as in "09:00""#),
            ("+9:00", #""+9:00" is not a time of day - write it as in "09:00""#),
            ("noon", #""noon" is not a time of day - write it as in "09:00""#),
            ("23:60", #"there is no time "23:60" - the last of a day is "23:59""#),
            ("24:01", #"there is no time "24:01" - the last of a day is "23:59""#),
            ("24:00", #"24:00 can only end a span of time - write "00:00" for midnight"#),
        ])
    func `a mistake in a time is named`(_ text: String, _ expected: String) {
        let error = #expect(throws: ZoneError.self) { try TimeOfDay(text) }
        #expect(error?.description == expected)
    }

    @Test(
        arguments: [
            ("09:00-17:00", false, "09:00-17:00"), ("22:00-07:00", true, "22:00-07:00"),
            ("00:00-24:00", false, "00:00-24:00"), ("22:00-24:00", false, "22:00-24:00"),
            ("22:00-00:00", false, "22:00-24:00"),
        ])
    func `a span of the day`(_ text: String, _ crosses: Bool, _ description: String) throws {
        let range = try TimeRange(text)
        #expect(range.crossesMidnight == crosses)
        #expect(range.description == description)
    }

    @Test(
        arguments: [
            ("09:00", #""09:00" is not a span of time - write it as in "22:00-07:00""#),
            ("09:00-", #""" is not a time of day - write it as in "09:00""#),
            ("09:00-09:00", #""09:00-09:00" ends where it starts - a whole day is "00:00-24:00""#),
            ("24:00-07:00", #"24:00 can only end a span of time - write "00:00" for midnight"#),
            ("00:00-00:00", #""00:00-00:00" ends where it starts - a whole day is "00:00-24:00""#),
        ])
    func `a mistake in a span is named`(_ text: String, _ expected: String) {
        let error = #expect(throws: ZoneError.self) { try TimeRange(text) }
        #expect(error?.description == expected)
    }
}
