import Chat
import Gzip
import JSON
import Testing
import WebSocket

@testable import Services

/// What is made of commands, without any socket.
@Suite struct SendbirdCommands {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)

    /// A book with an open channel and a group channel, both read to the end.
    func book(members: [String] = ["bot", "ana", "ben"]) -> SendbirdBook {
        let realm = Identities().realm("app")
        var book = SendbirdBook(account: "sendbird", realm: realm, own: realm.user("bot"), bots: ["*-bot"])
        book.now = Self.start
        let group: JSON = [
            "channel_url": "group", "name": "Group", "member_count": .int(Int64(members.count)),
            "members": .array(
                members.map { ["user_id": .string($0), "nickname": .string($0), "state": "joined"] }),
        ]
        for (json, kind) in [
            (
                ["channel_url": "room", "name": "Room", "participant_count": 3] as JSON,
                SendbirdRoom.Kind.open
            ),
            (group, .group),
        ] {
            try? JSONReader().read(json.bytes()) { node in
                guard let listing = SendbirdListing(node, kind: kind, reading: book.reading) else { return }
                book.describe(
                    listing, mark: .init(id: 100, at: 1_799_999_999_000), changed: 1_799_999_999_000)
                book.rooms[listing.url]?.phase = .live
            }
        }
        return book
    }

    func read(_ text: String, into book: inout SendbirdBook) {
        var damage: [String] = []
        let json = JSONReader()
        SendbirdCommand.each(in: Array(text.utf8), damage: { damage.append($0) }) { letters, body in
            try? json.read(body) { book.read(letters, $0, body: body) }
        }
        #expect(damage.isEmpty)
    }

    func story(_ text: String, in book: inout SendbirdBook) -> [String] {
        read(text, into: &book)
        return book.take()?.events.map(\.short) ?? []
    }

    func take(_ book: inout SendbirdBook) -> [ChatEvent] { book.take()?.events ?? [] }

    func expectNews(
        _ news: [SendbirdBook.News], in book: inout SendbirdBook, _ place: SourceLocation = #_sourceLocation
    ) {
        let found = book.takeNews()
        #expect(found == news, sourceLocation: place)
    }

    func message(
        _ id: Int64, _ text: String = "hi", at: Int64 = 1_800_000_000_000, in url: String = "room",
        by user: String = "ana", more: String = ""
    ) -> String {
        #"MESG{"msg_id":\#(id),"channel_url":"\#(url)","channel_type":"open","ts":\#(at),"message":"\#(text)","user":{"guest_id":"\#(user)","name":"\#(user)"}\#(more)}"#
            + "\n"
    }

    // MARK: Framing

    @Test func `one message may hold several commands, and the last may lack its line feed`() {
        var book = book()
        let text = message(101, "one\\nline") + "\n\n" + message(102, "two").dropLast()
        #expect(story(text, in: &book) == ["room + ana: one\nline", "room + ana: two"])
    }

    @Test func `what is no command is said, and costs nothing else`() {
        var damage: [String] = []
        var letters: [String] = []
        SendbirdCommand.each(
            in: Array("hello\nME{}\nmesg{}\nMESG[]\nPONG{}\r\nABCD{}\n".utf8), damage: { damage.append($0) }
        ) { name, _ in letters.append(name) }
        #expect(letters == ["PONG", "ABCD"])
        #expect(damage.count == 4)
    }

    @Test func `a message may come compressed, and a bomb does not fill the memory`() throws {
        let text = Array((message(101) + message(102)).utf8)
        #expect(try SendbirdCommand.plain(.binary(Gzip.compress(text))) == text)
        #expect(try SendbirdCommand.plain(.binary(text)) == text)
        #expect(throws: Gzip.Failure.cut) {
            try SendbirdCommand.plain(.binary(Gzip.compress(text).dropLast(9)))
        }
        let bomb = Gzip.compress([UInt8](repeating: 32, count: 9 << 20))
        #expect(throws: Gzip.Failure.tooLarge) { try SendbirdCommand.plain(.binary(bomb)) }
    }

    @Test func `unknown commands and categories are passed over`() {
        var book = book()
        #expect(
            story(
                "NEWS{\"channel_url\":\"room\"}\nVOTE{}\nMTHD{\"channel_url\":\"room\"}\nUSEV{\"cat\":20001}",
                in: &book) == [])
        #expect(story(#"SYEV{"cat":31415,"channel_url":"room","ts":1,"data":{}}"#, in: &book) == [])
    }

    @Test func `a command is four letters, an object and a line feed`() {
        let bytes = SendbirdCommand.bytes("MESG", ["message": "a\nb"])
        #expect(String(decoding: bytes, as: UTF8.self) == "MESG{\"message\":\"a\\nb\"}\n")
    }

    // MARK: Messages

    @Test func `a message with an id of somebody else's command is told all the same`() {
        var book = book()
        let text = message(101, more: #","req_id":"rq-of-another""#)
        #expect(story(text, in: &book) == ["room + ana: hi"])
    }

    @Test func `the same message twice is one`() {
        var book = book()
        #expect(story(message(101) + message(101), in: &book).count == 1)
        #expect(story(message(101), in: &book) == [])
    }

    @Test func `a message that comes after a newer one is told, and moves no cursor back`() throws {
        var book = book()
        read(message(110, "newer", at: 1_800_000_000_500), into: &book)
        read(message(109, "older", at: 1_800_000_000_400), into: &book)
        // A newer id of an earlier moment, as two servers' clocks may have it.
        read(message(111, "newest", at: 1_800_000_000_300), into: &book)
        let events = take(&book)
        #expect(events.map(\.message?.text) == ["newer", "older", "newest"])
        #expect(
            events.map(\.cursor?.position) == [
                .number(1_800_000_000_500, index: 110), nil, .number(1_800_000_000_500, index: 111),
            ])
        // Long forgotten.
        #expect(story(message(5, at: 1_700_000_000_000), in: &book) == [])
    }

    @Test func `users are told in both ways, and null, missing and empty are the same`() throws {
        var book = book()
        read(
            message(
                101,
                more:
                    #","data":"","custom":"{\"a\":1}","parent_message_id":0,"mentioned_users":null,"sorted_metaarray":[]"#
            ),
            into: &book)
        let rest =
            #"MESG{"message_id":102,"channel_url":"room","created_at":1800000000001,"message":"x","data":"{}","user":{"user_id":"help-bot","nickname":"Helper","role":"operator"},"parent_message_id":101}"#
        read(rest, into: &book)
        let events = take(&book)
        #expect(events[0].message?.attributes == "{\"a\":1}")
        #expect(events[0].message?.replyTo == nil)
        #expect(events[0].member?.roles == [])
        #expect(events[1].member?.name == "Helper")
        #expect(events[1].member?.isBot == true)
        #expect(events[1].member?.roles == ["operator"])
        #expect(events[1].message?.replyTo == "101")
    }

    @Test func `files are attachments, one or several`() throws {
        var book = book()
        read(
            #"FILE{"msg_id":101,"channel_url":"room","ts":1800000000001,"url":"https://f/x.png","name":"x.png","type":"image/png","size":3,"custom":"c","user":{"guest_id":"ana"}}"#
                + "\n"
                + #"FILE{"msg_id":102,"channel_url":"room","ts":1800000000002,"files":[{"url":"u1","file_name":"a","file_type":"t/a","file_size":1},{"url":"u2","file_name":"b","file_type":"t/b","file_size":2}],"user":{"guest_id":"ana"}}"#,
            into: &book)
        let events = take(&book)
        #expect(
            events[0].message?.attachments == [
                Message.Attachment(id: "https://f/x.png", name: "x.png", contentType: "image/png", size: 3)
            ])
        #expect(events[1].message?.attachments.map(\.name) == ["a", "b"])
    }

    @Test(arguments: ["ADMM", "BRDM"])
    func `messages of the application have an author that is no person`(_ letters: String) throws {
        var book = book()
        read(
            #"\#(letters){"msg_id":101,"channel_url":"room","ts":1800000000001,"message":"notice"}"#,
            into: &book)
        let event = try #require(take(&book).first)
        #expect(event.message?.text == "notice")
        #expect(event.member?.isBot == true)
    }

    @Test func `edits and deletions are told once, with what was said`() throws {
        var book = book()
        read(message(101, "one"), into: &book)
        _ = book.take()
        let edit =
            #"MEDI{"msg_id":101,"channel_url":"room","ts":1800000000000,"updated_at":1800000000900,"message":"uno","user":{"guest_id":"ana"},"old_values":{}}"#
        #expect(story(edit + "\n" + edit, in: &book) == ["room ~ ana: uno"])
        // The id of older traffic is text.
        let deletion = #"DELM{"channel_url":"room","channel_type":"open","msg_id":"101","ts":1800000001000}"#
        #expect(story(deletion + "\n" + deletion, in: &book) == ["room - ana: uno"])
        #expect(
            story(#"DELM{"channel_url":"room","msg_id":42,"ts":1800000001001}"#, in: &book) == [
                "room - unknown: "
            ])
    }

    // MARK: Counts and marks

    @Test func `stale counts are dropped`() {
        var book = book()
        read(
            #"MCNT{"group_channels":[{"channel_url":"group","member_count":9,"joined_member_count":8,"ts":200}],"open_channels":[{"channel_url":"room","participant_count":7,"ts":200},{"channel_url":"elsewhere","participant_count":7,"ts":200}]}"#,
            into: &book)
        read(
            #"MCNT{"group_channels":[{"channel_url":"group","joined_member_count":3,"ts":100}],"open_channels":[{"channel_url":"room","participant_count":1,"ts":100}]}"#,
            into: &book)
        #expect(book.rooms["group"]?.channel.memberCount == 8)
        #expect(book.rooms["room"]?.channel.memberCount == 7)
        expectNews([], in: &book)
    }

    @Test func `unread counts sit in any command, and older ones do not count`() {
        var book = book()
        read(message(101, more: #","unread_cnt":{"all":4,"ts":200}"#), into: &book)
        read(message(102, more: #","unread_cnt":{"all":9,"ts":100}"#), into: &book)
        #expect(book.unread?.count == 4)
    }

    @Test func `reading and delivery go up to a message, and unread counts fall as others read`() throws {
        var book = book()
        read(message(101, at: 1_800_000_000_100, in: "group", by: "bot"), into: &book)
        read(message(102, at: 1_800_000_000_200, in: "group", by: "bot"), into: &book)
        _ = book.take()
        let group = try #require(book.rooms["group"])
        #expect(group.unreadCount(ofMessageAt: 1_800_000_000_100, by: "bot") == 2)
        #expect(
            story(
                #"READ{"channel_url":"group","ts":1800000000150,"sts":1,"user":{"guest_id":"ana","name":"ana"}}"#,
                in: &book) == ["group read ana 101"])
        #expect(
            story(
                #"READ{"channel_url":"group","ts":1800000000300,"user":{"user_id":"ben","nickname":"ben"}}"#,
                in: &book) == ["group read ben 102"])
        // The same again, and an older one.
        #expect(
            story(
                #"READ{"channel_url":"group","ts":1800000000250,"user":{"user_id":"ben","nickname":"ben"}}"#,
                in: &book) == [])
        #expect(book.rooms["group"]?.unreadCount(ofMessageAt: 1_800_000_000_100, by: "bot") == 0)
        #expect(book.rooms["group"]?.unreadCount(ofMessageAt: 1_800_000_000_200, by: "bot") == 1)
        read(#"DLVR{"channel_url":"group","updated":{"ana":1800000000210}}"#, into: &book)
        let event = try #require(take(&book).first)
        guard case .delivered(let member, let index) = event.kind else { return #expect(Bool(false)) }
        #expect(member.name == "ana")
        #expect(index == 102)
    }

    @Test func `reactions come and go`() throws {
        var book = book()
        let text =
            #"MRCT{"channel_url":"group","msg_id":101,"reaction":"thumbs","user_id":"ana","updated_at":5,"operation":"ADD"}"#
        read(text + "\n" + text.replacing("ADD", with: "DELETE"), into: &book)
        let events = take(&book)
        #expect(events.map(\.name) == [.reactionAdded, .reactionRemoved])
        guard case .reactionAdded(let reaction) = events[0].kind else { return }
        #expect(reaction.key == "thumbs")
        #expect(reaction.message == MessageReference(id: "101", index: 101))
    }

    // MARK: Channels that are not known

    @Test func `commands of a channel that is not known wait until it is, and ask for it once`() {
        var book = book()
        read(
            message(7, "one", in: "new") + message(8, "two", in: "new")
                + system(10000, #"{"users":[]}"#, in: "new"), into: &book)
        read(system(10900, #"{"user_id":"ana"}"#, in: "elsewhere"), into: &book)
        expectNews([.strange("new", .open)], in: &book)
        #expect(book.strange["new"]?.count == 3)
        #expect(take(&book).isEmpty)
    }

    // MARK: When steward is behind

    @Test func `what steward does not take and can be read again is, the rest is kept`() throws {
        var book = book()
        read(message(101) + system(10102, #"{"user_id":"eve","nickname":"Eve"}"#, in: "room"), into: &book)
        let taken = book.take()
        let batch = try #require(taken)
        let fallen = book.fallBehind(batch)
        #expect(fallen == ["room"])
        #expect(book.rooms["room"]?.phase == .behind)
        #expect(book.rooms["room"]?.mark == SendbirdRoom.Mark(id: 100, at: 1_799_999_999_000))
        // Messages that come now are read again with it.
        read(message(102), into: &book)
        #expect(take(&book).isEmpty)
        book.rooms["room"]?.phase = .filling
        for id in [101, 102] as [Int64] {
            let seen = try JSONReader().read(Array(message(id).utf8.dropFirst(4))) { node in
                book.reading.message(node, operators: [])
            }
            book.tell(SendbirdHappening(message: try #require(seen)), in: "room")
        }
        let isSettled = book.settle("room")
        #expect(isSettled)
        #expect(take(&book).map(\.short) == ["room + ana: hi", "room + ana: hi", "room joined Eve"])
        #expect(book.rooms["room"]?.phase == .live)
    }
}
