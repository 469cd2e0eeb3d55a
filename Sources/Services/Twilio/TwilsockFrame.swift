internal import Glibc
internal import JSON

/// One frame of Twilsock, the transport of Twilio's chat: a line that names the protocol and the header's length, a
/// header of JSON, and a payload whose length the header tells.
///
/// Both lengths count bytes. A frame is cut by them and never by looking for line ends: the line end after the payload
/// may be there or not, and a header without `payload_size` has no payload.
package enum TwilsockFrame {
    /// What the first line promises; 10 digits are more than any frame has.
    private static let name: StaticString = "TWILSOCK V3.0 "
    private static let mostDigits = 10

    /// Where the header is in a frame.
    package static func header(in frame: UnsafeRawBufferPointer) throws(TwilsockError) -> Range<Int> {
        let nameLength = name.utf8CodeUnitCount
        guard frame.count > nameLength, frame.bindMemory(to: UInt8.self).hasPrefix(name) else {
            throw TwilsockError("a frame that does not begin with \"TWILSOCK V3.0\"")
        }
        var place = nameLength
        var length = 0
        while place < frame.count, place - nameLength < mostDigits, let digit = frame[place].digit {
            length = length * 10 + digit
            place += 1
        }
        guard place > nameLength, place + 2 <= frame.count, frame.hasLineEnd(at: place) else {
            throw TwilsockError("a frame without the length of its header")
        }
        let start = place + 2
        guard length <= frame.count - start else {
            throw TwilsockError("a header of \(length) bytes in a frame that has \(frame.count - start) left")
        }
        return start..<start + length
    }

    /// Where the payload is in a frame whose header says that it has `size` bytes.
    package static func payload(
        of size: Int64, after header: Range<Int>, in frame: UnsafeRawBufferPointer
    ) throws(TwilsockError) -> Range<Int> {
        var start = header.upperBound
        if start < frame.count {
            guard frame.hasLineEnd(at: start) else {
                throw TwilsockError("a header that is not of the length that was promised")
            }
            start += 2
        }
        guard size >= 0, size <= Int64(frame.count - start) else {
            throw TwilsockError("a payload of \(size) bytes in a frame that has \(frame.count - start) left")
        }
        return start..<start + Int(size)
    }

    /// A frame with this header, which must tell the payload's size.
    package static func bytes(header: [UInt8], payload: [UInt8] = []) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(header.count + payload.count + 32)
        frame.append(contentsOf: name.bytes)
        frame.append(contentsOf: String(header.count).utf8)
        frame.append(contentsOf: [13, 10])
        frame.append(contentsOf: header)
        frame.append(contentsOf: [13, 10])
        frame.append(contentsOf: payload)
        return frame
    }

    /// The answer that every frame but a reply gets.
    package static func acknowledgement(of id: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        // An id needs no escaping unless somebody wants to harm us, so its length is known beforehand.
        guard !id.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
        else {
            var writer = JSONWriter()
            writer.object { writer in
                writer.key("id")
                writer.string(id)
                writer.member("method", "reply")
                writer.member("payload_type", "application/json")
                writer.object("status") {
                    $0.member("code", 200)
                    $0.member("status", "OK")
                }
                writer.member("payload_size", 0)
            }
            return bytes(header: writer.bytes)
        }
        let length = before.utf8CodeUnitCount + id.count + after.utf8CodeUnitCount
        var frame: [UInt8] = []
        frame.reserveCapacity(64 + length)
        frame.append(contentsOf: name.bytes)
        if length < 1000 {
            // Three digits, as nearly always; a line of text takes longer to make than all the rest.
            frame.append(48 + UInt8(length / 100))
            frame.append(48 + UInt8(length / 10 % 10))
            frame.append(48 + UInt8(length % 10))
        } else {
            frame.append(contentsOf: String(length).utf8)
        }
        frame.append(contentsOf: lineEnd.bytes)
        frame.append(contentsOf: before.bytes)
        frame.append(contentsOf: id)
        frame.append(contentsOf: after.bytes)
        frame.append(contentsOf: lineEnd.bytes)
        return frame
    }

    private static let lineEnd: StaticString = "\r\n"
    private static let before: StaticString = #"{"id":""#
    private static let after: StaticString =
        #"","method":"reply","payload_type":"application/json","status":{"code":200,"status":"OK"},"payload_size":0}"#
}

/// What is wrong with a frame.
package struct TwilsockError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension UnsafeBufferPointer<UInt8> {
    func isEqual(to text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}

extension StaticString {
    fileprivate var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}

extension UInt8 {
    fileprivate var digit: Int? {
        self >= 48 && self <= 57 ? Int(self) - 48 : nil
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasLineEnd(at place: Int) -> Bool {
        place + 2 <= count && self[place] == 13 && self[place + 1] == 10
    }
}
