internal import JSON

/// One frame of Twilsock: `TWILSOCK V3.0 H`, a header of H bytes of JSON, and a payload whose size the header tells.
enum TwilsockFrame {
    /// Why bytes are not a frame.
    struct Malformed: Error, Equatable {
        let why: String
    }

    private static let greeting = Array("TWILSOCK V3.0 ".utf8)

    /// Where header and payload are. A payload may be followed by one CR LF.
    static func cut(_ frame: [UInt8]) throws(Malformed) -> (header: Range<Int>, afterHeader: Int) {
        guard frame.starts(with: greeting) else { throw Malformed(why: "does not begin with TWILSOCK V3.0") }
        var place = greeting.count
        var size = 0
        while place < frame.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = frame[place] {
            size = size * 10 + Int(frame[place] - UInt8(ascii: "0"))
            guard size <= frame.count else { throw Malformed(why: "the header is longer than the frame") }
            place += 1
        }
        guard place > greeting.count else { throw Malformed(why: "the header's size is missing") }
        guard hasLineEnd(frame, at: place) else { throw Malformed(why: "the first line does not end") }
        let header = place + 2..<place + 2 + size
        guard hasLineEnd(frame, at: header.upperBound) else {
            throw Malformed(why: "the header does not end where it should")
        }
        return (header, header.upperBound + 2)
    }

    static func payload(
        of frame: [UInt8], from start: Int, size: Int64
    ) throws(Malformed) -> ArraySlice<UInt8> {
        guard size >= 0, size <= frame.count - start else {
            throw Malformed(why: "the payload is shorter than payload_size")
        }
        let end = start + Int(size)
        guard end == frame.count || (end + 2 == frame.count && hasLineEnd(frame, at: end)) else {
            throw Malformed(why: "the payload is longer than payload_size")
        }
        return frame[start..<end]
    }

    private static func hasLineEnd(_ frame: [UInt8], at place: Int) -> Bool {
        place >= 0 && place + 1 < frame.count && frame[place] == 13 && frame[place + 1] == 10
    }

    /// A frame of ours. `fields` writes what is between the id and the payload's description.
    static func make(
        method: String, id: String, payloadType: String? = nil, payload: [UInt8] = [],
        fields: (inout JSONWriter) -> Void = { _ in }
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("method", method)
            writer.member("id", id)
            fields(&writer)
            if let payloadType { writer.member("payload_type", payloadType) }
            writer.member("payload_size", payload.count)
        }
        let header = writer.bytes
        var frame: [UInt8] = []
        frame.reserveCapacity(greeting.count + header.count + payload.count + 16)
        frame += greeting
        frame += String(header.count).utf8
        frame += lineEnd
        frame += header
        frame += lineEnd
        frame += payload
        if !payload.isEmpty { frame += lineEnd }
        return frame
    }

    private static let lineEnd: [UInt8] = [13, 10]

    /// `TM` and 32 digits: a number that no other frame of this server has.
    static func id(_ high: UInt64, _ low: UInt64) -> String {
        "TM" + SID(.message, high: high, low: low).text.dropFirst(2)
    }
}
