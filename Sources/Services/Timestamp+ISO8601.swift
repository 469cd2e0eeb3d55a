package import Chat

extension Timestamp {
    /// Reads `2024-05-01T12:00:00.123Z`: fraction optional, zone `Z` or `+02:00`. Nil for anything else.
    package init?(iso8601 text: String) {
        var text = text
        guard let moment = text.withUTF8({ Timestamp(iso8601: $0) }) else { return nil }
        self = moment
    }

    /// The same from the text's bytes.
    package init?(iso8601 bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let century = bytes.two(0), let yearOfCentury = bytes.two(2), let month = bytes.two(5),
            let day = bytes.two(8), let hour = bytes.two(11), let minute = bytes.two(14),
            let second = bytes.two(17),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var place = 19
        var milliseconds: Int64 = 0
        if bytes[place] == UInt8(ascii: ".") {
            place += 1
            var worth: Int64 = 100
            let start = place
            while place < bytes.count, bytes[place] >= 48, bytes[place] <= 57 {
                milliseconds += Int64(bytes[place] - 48) * worth
                worth /= 10
                place += 1
            }
            guard place > start else { return nil }
        }
        guard let offset = bytes.zone(from: place) else { return nil }
        let days = Self.days(year: century * 100 + yearOfCentury, month: month, day: day)
        let seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset * 60
        self.init(milliseconds: seconds * 1000 + milliseconds)
    }

    /// Days since 1970 of a date in the Gregorian calendar.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Two digits; nil when they are none.
    @inline(__always)
    fileprivate func two(_ place: Int) -> Int64? {
        let (tens, ones) = (self[place] &- 48, self[place &+ 1] &- 48)
        return tens < 10 && ones < 10 ? Int64(tens) * 10 + Int64(ones) : nil
    }

    /// Minutes east of Greenwich.
    fileprivate func zone(from place: Int) -> Int64? {
        guard place < count else { return nil }
        if self[place] == UInt8(ascii: "Z") { return count == place + 1 ? 0 : nil }
        guard self[place] == UInt8(ascii: "+") || self[place] == UInt8(ascii: "-"), count == place + 6,
            self[place + 3] == UInt8(ascii: ":"), let hours = two(place + 1),
            let minutes = two(place + 4)
        else { return nil }
        return (self[place] == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }
}
