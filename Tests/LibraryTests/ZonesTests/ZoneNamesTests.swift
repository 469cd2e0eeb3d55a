import Testing

@testable import Zones

@Suite struct NamesOfZones {
    @Test func `all names of the system's data are zones`() throws {
        let names = ZoneNames.all()
        #expect(names.count > 300)
        #expect(names == names.sorted())
        #expect(names.contains("America/Argentina/Buenos_Aires"))
        #expect(!names.contains { $0.hasPrefix("right/") || $0.contains(".") || $0 == "posixrules" })
        for name in names { #expect(throws: Never.self) { try TimeZone(named: name) } }
    }

    @Test(
        arguments: [
            ("europe/oslo", #"unknown time zone "europe/oslo" - did you mean "Europe/Oslo"?"#),
            ("Europe/Olso", #"unknown time zone "Europe/Olso" - did you mean "Europe/Oslo"?"#),
            ("Oslo", #"unknown time zone "Oslo" - did you mean "Europe/Oslo"?"#),
            ("Norway/Oslo", #"unknown time zone "Norway/Oslo" - did you mean "Europe/Oslo"?"#),
            ("America/New York", #"unknown time zone "America/New York" - did you mean "America/New_York"?"#),
            ("Asia/Katmandoo", #"unknown time zone "Asia/Katmandoo" - did you mean "Asia/Katmandu"?"#),
            ("PST", #"unknown time zone "PST" - write it as in "Europe/Oslo""#),
            ("", #"unknown time zone "" - write it as in "Europe/Oslo""#),
            ("/etc/passwd", #"unknown time zone "/etc/passwd" - write it as in "Europe/Oslo""#),
            ("../zoneinfo/UTC", #"unknown time zone "../zoneinfo/UTC" - did you mean "Etc/UTC" or "UTC"?"#),
            ("right/Europe/Oslo", #"unknown time zone "right/Europe/Oslo" - did you mean "Europe/Oslo"?"#),
            ("Europe", #"unknown time zone "Europe" - write it as in "Europe/Oslo""#),
            ("localtime", #"unknown time zone "localtime" - write it as in "Europe/Oslo""#),
            ("Fixed/UTC+01:00:00", #"unknown time zone "Fixed/UTC+01:00:00" - write it as in "Europe/Oslo""#),
        ])
    func `an unknown name gets those that are like it`(_ name: String, _ expected: String) {
        let error = #expect(throws: ZoneError.self) { try TimeZone(named: name) }
        #expect(error?.description == expected)
    }
}
