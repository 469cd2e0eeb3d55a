import JSON
import Testing

@testable import ChatServer

@Suite struct TwilsockFrames {
    private let ping = Array(
        "TWILSOCK V3.0 76\r\n{\"method\":\"ping\",\"id\":\"TM0a1b2c3d4e5f60718293a4b5c6d7e8f9\",\"payload_size\":0}\r\n"
            .utf8)
    private let reply = Array(
        "TWILSOCK V3.0 147\r\n{\"method\":\"reply\",\"id\":\"TM0a1b2c3d4e5f60718293a4b5c6d7e8f9\",\"payload_type\":\"application/json\",\"status\":{\"code\":200,\"status\":\"OK\"},\"payload_size\":0}\r\n"
            .utf8)

    @Test func `a ping is these 96 bytes`() {
        #expect(ping.count == 96)
        #expect(TwilsockFrame.make(method: "ping", id: "TM0a1b2c3d4e5f60718293a4b5c6d7e8f9") == ping)
    }

    @Test func `a reply of 168 bytes is cut where it should be`() throws {
        #expect(reply.count == 168)
        let (header, after) = try TwilsockFrame.cut(reply)
        #expect(header == 19..<166)
        #expect(after == 168)
        #expect(try JSON(parsing: Array(reply[header]))["status"]?["code"] == 200)
    }

    @Test func `sizes count bytes, not letters`() throws {
        let payload = Array(#"{"body":"Grüße 👋","attributes":"{}"}"#.utf8)
        #expect(payload.count == 41)
        let frame = TwilsockFrame.make(method: "message", id: "TM1", payload: payload)
        let (header, after) = try TwilsockFrame.cut(frame)
        #expect(try JSON(parsing: Array(frame[header]))["payload_size"] == 41)
        #expect(try Array(TwilsockFrame.payload(of: frame, from: after, size: 41)) == payload)
    }

    @Test(arguments: ["", "\r\n"])
    func `a payload may be followed by a line end`(_ end: String) throws {
        let frame = Array("TWILSOCK V3.0 2\r\n{}\r\nabc\(end)".utf8)
        let (_, after) = try TwilsockFrame.cut(frame)
        #expect(try TwilsockFrame.payload(of: frame, from: after, size: 3) == Array("abc".utf8)[...])
    }

    @Test(
        arguments: [
            "", "TWILSOCK", "TWILSOCK V3.0 ", "TWILSOCK V2.0 2\r\n{}\r\n", "TWILSOCK V3.0 x\r\n{}\r\n",
            "TWILSOCK V3.0 2{}\r\n", "TWILSOCK V3.0 3\r\n{}\r\n", "TWILSOCK V3.0 2\r\n{}",
            "TWILSOCK V3.0 99999999999999999999999\r\n{}\r\n", "TWILSOCK V3.0 1\r\n{}\r\n",
            "GET / HTTP/1.1\r\n\r\n",
        ])
    func `what is no frame is said to be none`(_ text: String) {
        #expect(throws: TwilsockFrame.Malformed.self) { try TwilsockFrame.cut(Array(text.utf8)) }
    }

    @Test(arguments: [-1, 4, 6, Int64.max])
    func `a payload of another size is refused`(_ size: Int64) throws {
        let frame = Array("TWILSOCK V3.0 2\r\n{}\r\nabcde".utf8)
        let (_, after) = try TwilsockFrame.cut(frame)
        #expect(throws: TwilsockFrame.Malformed.self) {
            try TwilsockFrame.payload(of: frame, from: after, size: size)
        }
    }
}
