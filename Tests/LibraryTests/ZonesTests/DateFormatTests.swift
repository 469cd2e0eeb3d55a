import Testing

@testable import Zones

@Suite struct DateFormats {
    @Test(
        arguments: [
            ("yyyy-MM-dd HH:mm:ss", "2026-03-08 00:05:09"), ("yy M d H m s", "26 3 8 0 5 9"),
            ("MMM MMMM", "Mar March"), ("E EEE EEEE", "Sun Sun Sunday"), ("h hh a", "12 12 AM"),
            ("z Z XXX", "CET +0100 +01:00"), ("EEE HH:mm", "Sun 00:05"),
            ("d. MMMM 'at' HH 'o''clock'", "8. March at 00 o'clock"),
            ("''yy''", "'26'"), ("yyyy年M月d日", "2026年3月8日"), ("ddMMyyyy", "08032026"), ("'XXX'", "XXX"),
        ])
    func `the letters of a pattern`(_ pattern: String, _ expected: String) throws {
        let moment = try moment("2026-03-08T00:05:09+01:00")
        #expect(try DateFormat(pattern).text(moment, in: TimeZone(named: "Europe/Oslo")) == expected)
    }

    @Test(
        arguments: [
            ("UTC", "2026-12-31T23:59:59Z", "11:59 PM UTC +0000 Z 26"),
            ("UTC", "2000-02-29T12:00:00Z", "12:00 PM UTC +0000 Z 00"),
            ("America/St_Johns", "2026-01-01T03:29:59Z", "11:59 PM NST -0330 -03:30 25"),
            ("Asia/Kathmandu", "2026-01-01T07:20:00Z", "01:05 PM +0545 +0545 +05:45 26"),
        ])
    func `in other zones`(_ zone: String, _ at: String, _ expected: String) throws {
        #expect(try DateFormat("hh:mm a z Z XXX yy").text(moment(at), in: TimeZone(named: zone)) == expected)
    }

    @Test(
        arguments: [
            ("YYYY", #""YYYY" in the date pattern "YYYY" has no meaning - text stands in single quotes"#),
            (
                "yyyy-mm-DD",
                #""DD" in the date pattern "yyyy-mm-DD" has no meaning - text stands in single quotes"#
            ),
            ("y", #""y" in the date pattern "y" has no meaning - use yyyy, yy, or quote it"#),
            ("HHH", #""HHH" in the date pattern "HHH" has no meaning - use H, HH, or quote it"#),
            ("HH 'h", #"a quote in the date pattern "HH 'h" does not end - for one quote write two"#),
            ("", #"an empty date pattern - try "yyyy-MM-dd HH:mm""#),
        ])
    func `a mistake in a pattern is named`(_ pattern: String, _ expected: String) {
        let error = #expect(throws: ZoneError.self) { try DateFormat(pattern) }
        #expect(error?.description == expected)
    }
}
