import Chat
import JSON
import Testing

@testable import Services

@Suite struct Frames {
    @Test func `a ping as it comes over the wire`() throws {
        let ping = Array(
            "TWILSOCK V3.0 76\r\n{\"method\":\"ping\",\"id\":\"TM0a1b2c3d4e5f60718293a4b5c6d7e8f9\",\"payload_size\":0}\r\n"
                .utf8
        )
        #expect(ping.count == 96)
        #expect(
            try cut(ping).header
                == #"{"method":"ping","id":"TM0a1b2c3d4e5f60718293a4b5c6d7e8f9","payload_size":0}"#)
        #expect(TwilsockFrame.bytes(header: Array(try cut(ping).header.utf8)) == ping)
    }

    @Test func `lengths count bytes and the last line end may be there or not`() throws {
        let payload = #"{"body":"Grüße 👋","attributes":"{}"}"#
        #expect(payload.utf8.count == 41)
        for end in ["", "\r\n"] {
            let frame = Array("TWILSOCK V3.0 19\r\n{\"payload_size\":41}\r\n\(payload)\(end)".utf8)
            #expect(try cut(frame).payload == payload)
        }
        #expect(try cut(Array("TWILSOCK V3.0 2\r\n{}".utf8)).payload == "")
    }

    @Test func `an acknowledgement carries the id of what it answers`() throws {
        let id = Array("TM0a1b2c3d4e5f60718293a4b5c6d7e8f9".utf8)
        let frame = id.withUnsafeBufferPointer { TwilsockFrame.acknowledgement(of: $0) }
        let header =
            #"{"id":"TM0a1b2c3d4e5f60718293a4b5c6d7e8f9","method":"reply","payload_type":"application/json","status":{"code":200,"status":"OK"},"payload_size":0}"#
        #expect(String(decoding: frame, as: UTF8.self) == "TWILSOCK V3.0 147\r\n\(header)\r\n")
        let evil = Array("\"},{\"\u{1}".utf8)
        let escaped = evil.withUnsafeBufferPointer { TwilsockFrame.acknowledgement(of: $0) }
        #expect(try JSON(parsing: cut(escaped).header)["id"]?.string == "\"},{\"\u{1}")
    }

    @Test(arguments: [
        "", "TWILSOCK", "TWILSOCK V3.0 ", "TWILSOCK V2.0 2\r\n{}\r\n", "TWILSOCK V3.0 x\r\n{}\r\n",
        "TWILSOCK V3.0 3\r\n{}", "TWILSOCK V3.0 99999999999999999999\r\n{}\r\n", "TWILSOCK V3.0 1\r\n{}\r\n",
        "TWILSOCK V3.0 2{}\r\n\r\n", "TWILSOCK V3.0 -2\r\n{}\r\n",
        "TWILSOCK V3.0 20\r\n{\"payload_size\":1000}\r\nabc",
        "TWILSOCK V3.0 18\r\n{\"payload_size\":-1}\r\n",
    ])
    func `a damaged frame is an error`(_ text: String) {
        #expect(throws: (any Error).self) { try cut(Array(text.utf8)) }
    }

    @Test func `no damage makes the reader read past the end`() {
        let good = Array(
            "TWILSOCK V3.0 57\r\n{\"method\":\"notification\",\"id\":\"TM1\",\"payload_size\":0000041}\r\n{\"body\":\"Grüße 👋\",\"attributes\":\"{}\"}\r\n"
                .utf8)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8(ascii: "9"), at: place)
                default: bytes.removeLast(Int.random(in: 0...min(20, bytes.count - 1), using: &random))
                }
            }
            _ = try? cut(bytes)
        }
    }

    @discardableResult
    private func cut(_ bytes: [UInt8]) throws -> (header: String, payload: String) {
        try bytes.withUnsafeBytes { frame in
            let header = try TwilsockFrame.header(in: frame)
            let json = try JSON(parsing: UnsafeRawBufferPointer(rebasing: frame[header]))
            let payload = try TwilsockFrame.payload(
                of: json["payload_size"]?.int ?? 0, after: header, in: frame)
            return (
                String(decoding: frame[header], as: UTF8.self),
                String(decoding: frame[payload], as: UTF8.self)
            )
        }
    }
}

@Suite struct Ordering {
    private var stream = SyncStream<String>(mark: 25)

    init() { stream.establish(correlation: 1) }

    /// What is done with each event.
    private mutating func admit(_ id: Int64, at moment: Timestamp, _ text: String)
        -> SyncStream<String>.Verdict
    {
        let verdict = stream.verdict(on: id)
        switch verdict {
        case .next: stream.advance()
        case .early: stream.hold(id, text, at: moment)
        case .unwanted: break
        }
        return verdict
    }

    @Test mutating func `each event once, and none before the one that precedes it`() {
        #expect(stream.settle(upTo: 25, at: moment) == false)
        #expect(admit(26, at: moment, "26") == .next)
        #expect(admit(26, at: moment, "26") == .unwanted)
        #expect(admit(28, at: moment, "28") == .early)
        #expect(admit(28, at: moment, "28") == .unwanted)
        #expect(stream.next()?.change == nil)
        #expect(admit(27, at: moment, "27") == .next)
        #expect(stream.next()?.change == "28")
        #expect(stream.next() == nil)
        #expect(stream.mark == 28)
        #expect(admit(3, at: moment, "3") == .unwanted)
    }

    @Test mutating func `an early event waits, then the object is subscribed again`() {
        _ = stream.settle(upTo: 25, at: moment)
        #expect(admit(27, at: moment, "27") == .early)
        #expect(!stream.isOverdue(at: moment + .milliseconds(100), after: .milliseconds(250)))
        #expect(stream.isOverdue(at: moment + .milliseconds(250), after: .milliseconds(250)))
        stream.want()
        stream.establish(correlation: 2)
        #expect(admit(26, at: moment, "26") == .next)
        #expect(stream.next()?.change == "27")
        #expect(stream.settle(upTo: 27, at: moment) == false)
        #expect(stream.phase == .live)
    }

    @Test mutating func `an early event that comes again in its turn is told once`() {
        #expect(admit(27, at: moment, "27") == .early)
        #expect(admit(26, at: moment, "26") == .next)
        stream.want()
        #expect(admit(27, at: moment, "27") == .next)
        #expect(stream.next() == nil)
        stream.establish(correlation: 2)
        #expect(stream.settle(upTo: 27, at: moment) == false)
        #expect(!stream.isOverdue(at: moment + .seconds(9), after: .milliseconds(250)))
    }

    @Test mutating func `live events in the middle of a replay keep their place`() {
        #expect(admit(31, at: moment, "31") == .early)
        for id in Int64(26)...30 { #expect(admit(id, at: moment, "\(id)") == .next) }
        #expect(stream.next()?.change == "31")
        #expect(stream.settle(upTo: 31, at: moment) == false)
    }

    @Test mutating func `what a complete replay lacks does not exist`() {
        #expect(admit(28, at: moment, "28") == .early)
        #expect(admit(31, at: moment, "31") == .early)
        #expect(stream.settle(upTo: 29, at: moment) == true)
        #expect(admit(30, at: moment, "30") == .early)
        #expect(stream.skip().map(\.change) == ["28"])
        #expect(stream.mark == 29)
        #expect(stream.next()?.change == "30")
        #expect(stream.next()?.change == "31")
        #expect(stream.phase == .live)
    }

    @Test mutating func `what was not taken is read again from there`() {
        _ = stream.settle(upTo: 25, at: moment)
        #expect(admit(26, at: moment, "26") == .next)
        #expect(admit(27, at: moment, "27") == .next)
        stream.fallBehind(to: 25)
        #expect(admit(28, at: moment, "28") == .unwanted)
        stream.want()
        stream.establish(correlation: 3)
        #expect(stream.mark == 25)
        #expect(admit(26, at: moment, "26") == .next)
    }

    private let moment = Timestamp(milliseconds: 1000)
}

@Suite struct Moments {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2024-05-01T12:00:00.000Z", 1_714_564_800_000),
        ("2024-02-29T23:59:59.123456Z", 1_709_251_199_123),
        ("2024-05-01T14:00:00.5+02:00", 1_714_564_800_500),
        ("2000-03-01T00:00:00Z", 951_868_800_000), ("1969-12-31T23:59:59.999Z", -1),
    ])
    func `a date as services write it`(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(iso8601: text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "2024-05-01", "2024-05-01T12:00:00", "2024-13-01T12:00:00Z", "2024-05-01T12:00:00.Z",
        "x024-05-01T12:00:00Z",
    ])
    func `anything else is no date`(_ text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }
}
