import Chat
import JSON
import Testing

@testable import Services

@Suite struct Reading {
    private let realm = Identities().realm("IS0f1e2d3c4b5a69788796a5b4c3d2e1f0")
    private let list = "ES5566778899aabbccddeeff0011223344"

    private func book(members: Int = 50, joined: Timestamp? = nil) -> SyncBook {
        var book = SyncBook(account: "twilio", realm: realm, own: realm.user("bot"))
        let channel = Channel(
            id: realm.channel("CH0123456789abcdef0123456789abcdef"), uniqueName: "room", title: "Room",
            memberCount: members, attributes: "{}")
        book.follow(
            channel, messages: list, roster: "MP5566778899aabbccddeeff0011223344",
            members: (0..<members).map { Member(user: realm.user("user\($0)"), roles: ["channel user"]) }
                + [Member(user: realm.user("bot"), joinedAt: joined)],
            from: 0)
        return book
    }

    /// A message as it comes over the wire.
    private func frame(_ id: Int, by author: String, _ text: String) -> [UInt8] {
        let payload: JSON = [
            "event_type": "list_item_added", "event_protocol_version": 4,
            "events": [
                [
                    "id": .int(Int64(id)), "date_created": "2024-05-01T12:00:00.000Z",
                    "list_sid": .string(list),
                    "list_revision": "1b", "list_unique_name": "CH0123456789abcdef0123456789abcdef.messages",
                    "item_index": .int(Int64(id)), "item_revision": "1b",
                    "item_url":
                        "https://cds.us1.twilio.com/v3/Services/IS0f1e2d3c4b5a69788796a5b4c3d2e1f0/Lists/ES5566778899aabbccddeeff0011223344/Items/8",
                    "item_data": [
                        "sid": .string("IM8899aabbccddeeff00112233\(10_000_000 + id)"), "type": "text",
                        "author": .string(author), "memberSid": "MB0123456789abcdef0123456789abcdef",
                        "text": .string(text), "subject": nil, "attributes": "{}",
                        "timestamp": "2024-05-01T12:00:00.123Z", "dateUpdated": "2024-05-01T12:00:00.123Z",
                    ],
                ]
            ],
        ]
        let body = payload.bytes()
        let header: JSON = [
            "method": "notification", "id": .string("TM0a1b2c3d4e5f60718293a4b5\(10_000_000 + id)"),
            "message_type": "com.twilio.rtd.cds.list",
            "notification_ctx_id": "NC0123456789abcdef0123456789abcdef",
            "payload_type": "application/json", "payload_size": .int(Int64(body.count)),
        ]
        return TwilsockFrame.bytes(header: header.bytes(), payload: body + [13, 10])
    }

    @Test func `a frame becomes an event and an acknowledgement`() throws {
        var reader = TwilioReader(book: book())
        reader.read(frame(1, by: "user7", "Grüße 👋"), at: Timestamp(milliseconds: 5))
        let event = try #require(reader.book?.takeEvents().first)
        #expect(event.id == "IM8899aabbccddeeff0011223310000001")
        #expect(event.message?.text == "Grüße 👋")
        #expect(event.message?.author.roles == ["channel user"])
        #expect(event.sentAt == Timestamp(iso8601: "2024-05-01T12:00:00.123Z"))
        #expect(event.cursor?.position == .number(1, index: 1))
        #expect(event.channel?.title == "Room")
        #expect(reader.takeAcknowledgements().count == 1)
        #expect(reader.damage == nil)
    }

    @Test func `what was written before we joined is history, but not where a clock was set back`() throws {
        let written = try #require(Timestamp(iso8601: "2024-05-01T12:00:00.123Z"))
        let joined = written + .seconds(300)
        for (now, count) in [(joined + .seconds(1), 0), (written + .seconds(1), 1)] {
            var reader = TwilioReader(book: book(joined: joined))
            reader.read(frame(1, by: "user7", "hello"), at: now)
            #expect(reader.book?.takeEvents().count == count)
        }
    }

    @Test func `whatever is damaged, reading goes on`() throws {
        var reader = TwilioReader(book: book())
        let good = frame(1, by: "user7", "hello")
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 32...126, using: &random), at: place)
                }
            }
            reader.read(bytes, at: Timestamp(milliseconds: 5))
        }
        _ = reader.takeSignals()
        var fresh = TwilioReader(book: book())
        fresh.read(good, at: Timestamp(milliseconds: 5))
        #expect(fresh.book?.takeEvents().count == 1)
    }
}
