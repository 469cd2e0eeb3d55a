internal import Chat
internal import Glibc
internal import JSON
internal import Services

/// Lines of chat as the frames in which a Twilio account hears them, about 1,000 bytes each.
struct Frames: Sendable {
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]

    var count: Int { starts.count - 1 }
    var averageSize: Int { bytes.count / max(1, count) }

    init(_ traffic: Traffic) {
        var indices = [Int](repeating: 0, count: Traffic.channels)
        let end = Timestamp.now.milliseconds
        var writer = JSONWriter()
        var payload = JSONWriter()
        bytes.reserveCapacity(traffic.lines.count * 1100)
        for (number, line) in traffic.lines.enumerated() {
            let at = end - Int64(traffic.lines.count - number)
            payload.removeAll()
            Self.write(line, number, index: indices[line.channel], at: Self.text(of: at), &payload)
            indices[line.channel] += 1
            writer.removeAll()
            writer.object { writer in
                writer.member("method", "notification")
                writer.member("id", "TM" + Names.digits(number))
                writer.member("message_type", "com.twilio.rtd.cds.list")
                writer.member("notification_ctx_id", "")
                writer.member("payload_type", "application/json")
                writer.member("payload_size", payload.bytes.count)
            }
            bytes += TwilsockFrame.bytes(header: writer.bytes, payload: payload.bytes)
            starts.append(bytes.count)
        }
    }

    func read(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for number in range {
                body(UnsafeRawBufferPointer(rebasing: bytes[starts[number]..<starts[number + 1]]))
            }
        }
    }

    private static func write(
        _ line: Traffic.Line, _ number: Int, index: Int, at: String, _ writer: inout JSONWriter
    ) {
        let list = Names.list(line.channel)
        let url = "https://cds.us1.twilio.com/v3/Services/\(Names.service)/Lists/\(list)/Items/\(index)"
        writer.object { writer in
            writer.member("event_type", "list_item_added")
            writer.member("event_protocol_version", 4)
            writer.array("events") { writer in
                writer.object { writer in
                    writer.member("id", index)
                    writer.member("date_created", at)
                    writer.member("list_sid", list)
                    writer.member("list_revision", String(index + 1, radix: 16))
                    writer.member("list_unique_name", "\(Names.channel(line.channel)).messages")
                    writer.member("item_index", index)
                    writer.member("item_url", url)
                    writer.member("item_revision", String(index + 1, radix: 16))
                    writer.object("item_data") { writer in
                        writer.member("sid", "IM" + Names.digits(number))
                        writer.member("type", "text")
                        writer.member("author", Names.user(line.user))
                        writer.member("memberSid", "MB" + Names.digits(line.user))
                        writer.member("text", line.text)
                        writer.member("attributes", "{}")
                        writer.member("timestamp", at)
                        writer.member("dateUpdated", at)
                        writer.member("channelMetadata", false)
                    }
                }
            }
        }
    }

    private static func text(of milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: Int32, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        let day = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let time = "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(day)T\(time).\(padded(Int32(milliseconds % 1000), 3))Z"
    }
}

/// What things are called in the frames.
enum Names {
    static let service = "IS" + digits(1)

    static func user(_ number: Int) -> String { "user-\(number)" }
    static func channel(_ number: Int) -> String { "CH" + digits(number) }
    static func roster(_ number: Int) -> String { "MP" + digits(number) }
    static func list(_ number: Int) -> String { "ES" + digits(number) }

    /// 32 hexadecimal digits that look like a service's.
    static func digits(_ number: Int) -> String {
        var mix = SplitMix(seed: UInt64(number))
        let digits = String(mix.next() | 1 << 63, radix: 16) + String(mix.next() | 1 << 63, radix: 16)
        return digits
    }
}
