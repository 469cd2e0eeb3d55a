import Chat
import JSON
import Testing

@testable import Services

/// Rooms as such: what they are called, what is history in them, how they end.
extension MatrixRooms {
    @Test func `name, alias and topic`() throws {
        var book = try book()
        let seen = try events(
            [
                event("m.room.name", id: "$1", #"{"name":"Lobby"}"#, key: ""),
                event("m.room.canonical_alias", id: "$2", ##"{"alias":"#lobby:t"}"##, key: ""),
                event("m.room.topic", id: "$3", #"{"topic":"talk"}"#, key: ""),
                event(
                    "m.room.topic", id: "$4", #"{"topic":"talk"}"#, key: "",
                    unsigned: #"{"prev_content":{"topic":"talk"}}"#),
                event("m.room.topic", id: "$5", #"{"topic":"other"}"#, key: "not of the room"),
            ], of: &book)
        #expect(seen.count == 3)
        #expect(book.rooms[Self.room]?.channel.title == "Lobby")
        #expect(book.rooms[Self.room]?.channel.uniqueName == "#lobby:t")
        #expect(book.rooms[Self.room]?.channel.attributes == #"{"topic":"talk"}"#)
        book.configure(Self.room, as: "general")
        #expect(book.room(named: "general")?.id == Self.room)
    }

    @Test func `what was said before we came is history, in each way of coming`() throws {
        let join = member("join", "@bot:t", id: "$join")
        var new = RoomBook(
            account: "matrix", realm: realm, own: realm.user("@bot:t"), bots: BotNames(), heedsNotices: false)
        #expect(
            try told([text("before", id: "$1"), join, text("after", id: "$2")], of: &new) == [
                "added", "joined bot", "+ ana: after",
            ])
        var pushedOut = RoomBook(
            account: "matrix", realm: realm, own: realm.user("@bot:t"), bots: BotNames(), heedsNotices: false)
        #expect(try told([text("after", id: "$2")], of: &pushedOut, state: [join]) == ["+ ana: after"])
        var unsure = RoomBook(
            account: "matrix", realm: realm, own: realm.user("@bot:t"), bots: BotNames(), heedsNotices: false)
        #expect(try told([text("before?", id: "$2")], of: &unsure) == [])
        // Joined while steward was away: the room is known, and yet it is new.
        var away = try book()
        #expect(
            try told([text("before", id: "$1"), join, text("after", id: "$2")], of: &away) == [
                "added", "joined bot", "+ Ana: after",
            ])
        // Asked in, and come.
        var asked = RoomBook(
            account: "matrix", realm: realm, own: realm.user("@bot:t"), bots: BotNames(), heedsNotices: false)
        let invite = member("invite", "@bot:t", by: "@ana:t", id: "$invite")
        let come = member("join", "@bot:t", id: "$come", before: "invite")
        #expect(
            try told(
                [text("before", id: "$1"), invite, text("2", id: "$2"), come, text("after", id: "$3")],
                of: &asked)
                == ["added", "joined bot", "+ ana: after"])
        // Gone for a while.
        var back = try book()
        let leave = member("leave", "@bot:t", id: "$leave", before: "join")
        let again = member("join", "@bot:t", id: "$again", before: "leave")
        #expect(
            try told(
                [text("1", id: "$1"), leave, text("2", id: "$2"), again, text("3", id: "$3")], of: &back)
                == ["+ Ana: 1", "added", "joined bot", "+ Ana: 3"])
    }

    @Test func `an event is told once, however often it is read`() throws {
        var book = try book()
        #expect(try told([text("1", id: "$1"), text("2", id: "$2")], of: &book).count == 2)
        #expect(try told([text("2", id: "$2"), text("3", id: "$3")], of: &book) == ["+ Ana: 3"])
    }

    @Test func `what was decided of an answer before a restart is not told again`() throws {
        var book = try book()
        let timeline = [text("1", id: "$1"), text("2", id: "$2"), text("3", id: "$3")]
        #expect(try told(timeline, of: &book, after: "$2") == ["+ Ana: 3"])
        var other = try self.book()
        // The mark is not there any more: better twice than never, and steward's store knows most of them.
        #expect(try told(timeline, of: &other, after: "$gone").count == 3)
    }

    @Test func `a room that another follows is left for it`() throws {
        var book = try book()
        let stone = event("m.room.tombstone", id: "$s", #"{"replacement_room":"!new"}"#, key: "")
        #expect(try told([stone, text("last words", id: "$1")], of: &book).count == 2)
        let news = book.takeNews()
        #expect(news == [.upgraded("!r", to: "!new", sender: "@ana:t")])
        #expect(book.room(named: "!r")?.id == "!r")
        book.open("!new")
        #expect(book.room(named: "!r")?.id == "!new")
        #expect(try told([text("nobody listens", id: "$2")], of: &book) == [])
    }

    @Test func `what was said until a room's end counts, also where the end is known already`() throws {
        let stone = event("m.room.tombstone", id: "$s", #"{"replacement_room":"!new"}"#, key: "")
        var book = try book(state: [stone])
        book.open("!new")
        #expect(
            try told([text("1", id: "$1"), stone, text("2", id: "$2")], of: &book).first == "+ Ana: 1")
        #expect(try told([text("3", id: "$3")], of: &book) == [])
    }

    @Test func `what changed while steward was away is told, though the state is known already`() throws {
        let now = event(
            "m.room.name", id: "$n", #"{"name":"Lounge"}"#, key: "",
            unsigned: #"{"prev_content":{"name":"Lobby"}}"#)
        let same = event(
            "m.room.name", id: "$o", #"{"name":"Lounge"}"#, key: "",
            unsigned: #"{"prev_content":{"name":"Lounge"}}"#)
        let levels = #"{"users":{"@ana:t":100,"@bot:t":50,"@eve:t":-1}}"#
        let before = #"{"prev_content":{"users":{"@ana:t":100,"@bot:t":50}}}"#
        let muted = event("m.room.power_levels", id: "$p", levels, key: "", unsigned: before)
        var book = try book(state: [now, muted])
        let seen = try events([now, same, muted], of: &book)
        #expect(seen.map(\.name) == [.channelUpdated, .memberMuted])
    }

    @Test func `an encrypted room is found out at the start and later`() throws {
        let encryption = event(
            "m.room.encryption", id: "$c", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#, key: "")
        var book = try book(state: [encryption])
        let news = book.takeNews()
        #expect(news == [.encrypted("!r")])
        var later = try self.book()
        let secret = event("m.room.encrypted", id: "$1", #"{"ciphertext":"x"}"#)
        #expect(try told([encryption, secret], of: &later) == [])
        let laterNews = later.takeNews()
        #expect(laterNews == [.encrypted("!r")])
        #expect(later.rooms[Self.room]?.isEncrypted == true)
    }

    @Test func `being removed is told, and ends the room`() throws {
        var book = try book()
        let text = """
            {"next_batch":"s3","rooms":{"leave":{"!r":{"timeline":{"events":[\(member("ban", "@bot:t", by: "@ana:t", before: "join"))]}}}}}
            """
        let answer = try JSONReader().read(text) { try #require(SyncAnswer($0, own: "@bot:t")) }
        let told = answer.left.flatMap { book.leave($0.room, $0.events) }
        #expect(told.map(\.event.name) == [.memberBanned])
        #expect(book.rooms.isEmpty)
        let news = book.takeNews()
        #expect(news == [.left("!r", by: "@ana:t")])
    }

    @Test func `who is typing and who has read`() throws {
        var book = try book()
        func passing(_ users: String) -> String {
            #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":[\#(users)]}}]}"#
        }
        #expect(
            try told([], of: &book, more: passing(#""@ana:t","@eve:t""#)) == ["typing Ana", "typing eve"])
        #expect(try told([], of: &book, more: passing(#""@eve:t""#)) == ["typed Ana"])
        let receipt =
            #","ephemeral":{"events":[{"type":"m.receipt","content":{"$1":{"m.read":{"@ana:t":{"ts":17}}}}}]}"#
        #expect(try told([], of: &book, more: receipt) == ["read Ana 17"])
    }

    @Test func `a ban list is read where it is followed, and nowhere else`() throws {
        var book = try book()
        func rule(_ id: String, _ entity: String, _ what: String = "m.ban") -> String {
            event(
                "m.policy.rule.server", id: id,
                entity.isEmpty
                    ? "{}" : #"{"entity":"\#(entity)","recommendation":"\#(what)","reason":"spam"}"#,
                key: "rule 1")
        }
        #expect(try told([rule("$0", "evil.org")], of: &book) == [])
        book.follow(Self.room, as: "coc")
        #expect(
            try told([rule("$1", "*.evil.org"), rule("$2", "", "")], of: &book) == [
                "+ server *.evil.org", "- server *.evil.org",
            ])
        let lists = book.takeChangedLists()
        #expect(lists == ["coc": []])
        #expect(try told([rule("$3", "odd.org", "org.praise")], of: &book) == [])
        _ = try told([rule("$4", "evil.org")], of: &book)
        let listed = book.takeChangedLists()
        #expect(
            listed == ["coc": [Policy(list: "coc", subject: .server, entity: "evil.org", reason: "spam")]])
    }
}
