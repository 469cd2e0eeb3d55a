/// Moments and dates as ISO 8601 and RFC 3339 write them.
package enum ISO8601 {
    /// Reads `2026-03-28T23:10:00+01:00`; seconds may be left out or have a fraction, of which milliseconds count, and
    /// the offset may be `Z`. With a zone, the offset, or the whole time of day (then midnight), may be left out.
    package static func moment(_ text: String, in zone: TimeZone? = nil) throws(ZoneError) -> Int64 {
        var reader = Reader(text, kind: "a moment", example: "2026-03-28T23:10:00+01:00")
        let date = try reader.date()
        guard !reader.isAtEnd else {
            guard let zone else { throw reader.lacksOffset }
            return zone.moment(of: date, at: .midnight)
        }
        try reader.expect("T")
        let (hour, minute) = (try reader.number(2), try reader.colonNumber())
        let second = reader.isNext(":") ? try reader.colonNumber() : 0
        let millisecond = try reader.fraction()
        guard let civil = CivilTime(date, hour: hour, minute: minute, second: second) else {
            throw ZoneError("there is no time of day as in \"\(text)\"", hint: "the last is \"23:59:59\"")
        }
        guard !reader.isAtEnd else {
            guard let zone else { throw reader.lacksOffset }
            return zone.moment(of: civil) + Int64(millisecond)
        }
        let offset = try reader.offset()
        try reader.end()
        return (civil.seconds - Int64(offset)) * 1000 + Int64(millisecond)
    }

    /// Reads `2026-01-05`.
    package static func date(_ text: String) throws(ZoneError) -> CivilDate {
        var reader = Reader(text, kind: "a date", example: "2026-01-05")
        let date = try reader.date()
        try reader.end()
        return date
    }

    /// `2026-03-28T23:10:00+01:00`, with milliseconds if there are any; `Z` where the offset is none.
    package static func text(_ moment: Int64, in zone: TimeZone = .utc) -> String {
        let local = zone.local(moment)
        let thousandths = String(1000 + local.millisecond).dropFirst()
        return "\(local.civil)\(local.millisecond == 0 ? "" : ".\(thousandths)")\(offset(local.offset))"
    }

    /// `+01:00`, or `Z` for none; with seconds for the odd offsets of old.
    static func offset(_ seconds: Int) -> String {
        guard seconds != 0 else { return "Z" }
        let size = abs(seconds)
        let odd = size % 60 == 0 ? "" : ":\(twoDigits(size % 60))"
        return "\(seconds < 0 ? "-" : "+")\(twoDigits(size / 3600)):\(twoDigits(size / 60 % 60))\(odd)"
    }
}

private struct Reader {
    let text: String
    let kind: String
    let example: String
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String, kind: String, example: String) {
        self.text = text
        self.kind = kind
        self.example = example
        bytes = Array(text.utf8)
    }

    var malformed: ZoneError {
        ZoneError("\"\(text)\" is not \(kind)", hint: "write it as in \"\(example)\"")
    }

    var lacksOffset: ZoneError {
        ZoneError("\"\(text)\" does not say how far from UTC it is", hint: "write it as in \"\(example)\"")
    }

    var isAtEnd: Bool { place == bytes.count }

    func isNext(_ letter: Unicode.Scalar) -> Bool {
        place < bytes.count && bytes[place] == UInt8(ascii: letter)
    }

    mutating func expect(_ letter: Unicode.Scalar) throws(ZoneError) {
        guard isNext(letter) else { throw malformed }
        place += 1
    }

    func end() throws(ZoneError) {
        guard isAtEnd else { throw malformed }
    }

    mutating func number(_ digits: Int) throws(ZoneError) -> Int {
        guard place + digits <= bytes.count else { throw malformed }
        var number = 0
        for byte in bytes[place..<place + digits] {
            guard (48...57).contains(byte) else { throw malformed }
            number = number * 10 + Int(byte) - 48
        }
        place += digits
        return number
    }

    mutating func colonNumber() throws(ZoneError) -> Int {
        try expect(":")
        return try number(2)
    }

    mutating func date() throws(ZoneError) -> CivilDate {
        let year = try number(4)
        try expect("-")
        let month = try number(2)
        try expect("-")
        let day = try number(2)
        guard let date = CivilDate(year: year, month: month, day: day) else {
            throw ZoneError("there is no day \"\(fourDigits(year))-\(twoDigits(month))-\(twoDigits(day))\"")
        }
        return date
    }

    /// The thousandths of `.5`, none if there is no fraction.
    mutating func fraction() throws(ZoneError) -> Int {
        guard isNext(".") else { return 0 }
        place += 1
        let digits = bytes[place...].prefix { (48...57).contains($0) }
        guard !digits.isEmpty else { throw malformed }
        place += digits.count
        return zip(digits, [100, 10, 1]).reduce(0) { $0 + (Int($1.0) - 48) * $1.1 }
    }

    /// Seconds east of Greenwich.
    mutating func offset() throws(ZoneError) -> Int {
        if isNext("Z") {
            place += 1
            return 0
        }
        let sign = isNext("-") ? -1 : 1
        if sign == 1 { try expect("+") } else { place += 1 }
        let (hours, minutes) = (try number(2), try colonNumber())
        let seconds = isNext(":") ? try colonNumber() : 0
        guard hours < 24, minutes < 60, seconds < 60 else { throw malformed }
        return sign * (hours * 3600 + minutes * 60 + seconds)
    }
}
