import Chat
import JSON
import Testing

@testable import Services

/// What becomes of a room's events, without a server.
@Suite struct MatrixRooms {
    let realm = Identities().realm("matrix")
    let now = Timestamp(milliseconds: 1_700_000_000_000)
    static let room = "!r"

    /// A book with one room in it, of version 11 unless told otherwise, where ana is and the bot has power 50.
    func book(version: String = "11", notices: Bool = false, state: [String] = []) throws -> RoomBook {
        var book = RoomBook(
            account: "matrix", realm: realm, own: realm.user("@bot:t"), bots: BotNames(["@*-bot:t"]),
            heedsNotices: notices)
        let levels =
            version == "12"
            ? #"{"users":{"@bot:t":50},"events_default":0}"#
            : #"{"users":{"@ana:t":100,"@bot:t":50},"events_default":0}"#
        let first = [
            event("m.room.create", by: "@ana:t", #"{"room_version":"\#(version)"}"#, key: ""),
            event("m.room.power_levels", by: "@ana:t", levels, key: ""),
            event(
                "m.room.member", by: "@ana:t", #"{"membership":"join","displayname":"Ana"}"#, key: "@ana:t"),
            event("m.room.member", by: "@bot:t", #"{"membership":"join"}"#, key: "@bot:t"),
        ]
        book.begin(with: try answer(state: first + state, timeline: []))
        return book
    }

    func event(
        _ type: String, id: String = "$e", by sender: String = "@ana:t", _ content: String,
        key: String? = nil,
        unsigned: String = "{}", more: String = ""
    ) -> String {
        let state = key.map { #","state_key":"\#($0)""# } ?? ""
        return """
            {"type":"\(type)","event_id":"\(id)","sender":"\(sender)","origin_server_ts":1699999999000,
            "content":\(content),"unsigned":\(unsigned)\(state)\(more)}
            """
    }

    func answer(
        state: [String] = [], timeline: [String] = [], limited: Bool = false, more: String = ""
    ) throws -> SyncAnswer {
        let text = """
            {"next_batch":"s2","rooms":{"join":{"\(Self.room)":{
            "state":{"events":[\(state.joined(separator: ","))]},
            "timeline":{"limited":\(limited),"prev_batch":"p","events":[\(timeline.joined(separator: ","))]}\(more)}}}}
            """
        return try JSONReader(loneSurrogates: .replaced, maximumDepth: 2_000).read(text) { node in
            try #require(SyncAnswer(node, own: "@bot:t"))
        }
    }

    /// What steward is told of these, in short.
    func told(
        _ timeline: [String], of book: inout RoomBook, state: [String] = [], after done: String? = nil,
        more: String = ""
    ) throws -> [String] {
        try events(timeline, of: &book, state: state, after: done, more: more).map { event in
            let by = event.by.map { " by \($0)" } ?? ""
            return switch event.kind {
            case .reactionAdded(let reaction): "\(reaction.key) on \(reaction.message.id)"
            case .reactionRemoved(let reaction): "no \(reaction.key) on \(reaction.message.id)\(by)"
            case .memberInvited(let member): "invited \(member.user)\(by)"
            case .memberBanned(let member): "banned \(member.user)\(by)"
            case .memberMuted(let member): "muted \(member.user)\(by)"
            case .policyAdded(let policy): "+ \(policy.subject) \(policy.entity)"
            case .policyRemoved(let policy): "- \(policy.subject) \(policy.entity)"
            case .channelFrozen: "frozen"
            default: String(event.short.dropFirst(Self.room.count + 1)) + by
            }
        }
    }

    func events(
        _ timeline: [String], of book: inout RoomBook, state: [String] = [], after done: String? = nil,
        more: String = ""
    ) throws -> [ChatEvent] {
        let answer = try answer(state: state, timeline: timeline, more: more)
        return answer.joined.flatMap { book.take($0, gap: [], after: done, at: now) }.map(\.event)
    }

    func member(
        _ membership: String, _ user: String, by sender: String? = nil, id: String = "$m",
        name: String? = nil,
        before: String? = nil, unsigned: String? = nil
    ) -> String {
        let name = name.map { #","displayname":"\#($0)""# } ?? ""
        let old = before.map { #"{"prev_content":{"membership":"\#($0)"},"replaces_state":"$x"}"# }
        return event(
            "m.room.member", id: id, by: sender ?? user, #"{"membership":"\#(membership)"\#(name)}"#,
            key: user,
            unsigned: unsigned ?? old ?? "{}")
    }

    func text(_ body: String, id: String = "$t", by sender: String = "@ana:t") -> String {
        event("m.room.message", id: id, by: sender, #"{"msgtype":"m.text","body":"\#(body)"}"#)
    }

    // MARK: Messages

    @Test func `kinds of messages`() throws {
        var book = try book()
        let image =
            #"{"msgtype":"m.image","body":"look","filename":"a.png","url":"mxc://t/1","info":{"mimetype":"image/png","size":7}}"#
        let file = #"{"msgtype":"m.file","body":"a.txt","url":"mxc://t/2"}"#
        let seen = try events(
            [
                text("hello", id: "$1"),
                event("m.room.message", id: "$2", #"{"msgtype":"m.emote","body":"waves"}"#),
                event("m.room.message", id: "$3", #"{"msgtype":"m.notice","body":"done"}"#),
                event("m.room.message", id: "$4", image), event("m.room.message", id: "$5", file),
                event("m.room.message", id: "$6", #"{"msgtype":"org.new","body":"as people see it"}"#),
            ], of: &book)
        #expect(
            seen.map { $0.message?.text } == ["hello", "waves", "done", "look", "", "as people see it"])
        #expect(seen.map { $0.message?.isNotice } == [false, false, true, false, false, false])
        #expect(
            seen[3].message?.attachments == [
                Message.Attachment(id: "mxc://t/1", name: "a.png", contentType: "image/png", size: 7)
            ])
        #expect(seen[4].message?.attachments.first?.name == "a.txt")
        #expect(seen[0].member?.name == "Ana")
        #expect(seen[0].member?.roles == ["power 100"])
        #expect(seen[0].sentAt == Timestamp(milliseconds: 1_699_999_999_000))
    }

    @Test func `notices are heeded where that is configured`() throws {
        var book = try book(notices: true)
        let seen = try events(
            [event("m.room.message", #"{"msgtype":"m.notice","body":"done"}"#)], of: &book)
        #expect(seen.first?.message?.isNotice == false)
    }

    @Test(arguments: [
        "{}", #"{"msgtype":"m.text"}"#, #"{"msgtype":"m.text","body":7}"#, #"{"body":"no type"}"#,
        #"{"msgtype":"m.key.verification.request","body":"please"}"#, "[]", "null",
    ])
    func `what a stranger sends may be anything, and is nothing then`(_ content: String) throws {
        var book = try book()
        #expect(try told([event("m.room.message", content), text("next")], of: &book) == ["+ Ana: next"])
    }

    @Test func `content that nests deep makes nothing else unreadable`() throws {
        var book = try book()
        let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
        let odd = event("m.room.message", id: "$1", #"{"msgtype":"m.text","body":"deep","x":\#(deep)}"#)
        let half = event("m.room.message", id: "$2", #"{"msgtype":"m.text","body":"half \ud83d"}"#)
        #expect(try told([odd, half], of: &book) == ["+ Ana: deep", "+ Ana: half \u{FFFD}"])
    }

    @Test func `the quoted text of what a reply answers is not the reply's`() throws {
        var book = try book()
        let body = #"> <@ben:t> buy now\n> cheap\n\nno thanks"#
        let reply =
            #"{"msgtype":"m.text","body":"\#(body)","m.relates_to":{"m.in_reply_to":{"event_id":"$0"}}}"#
        let seen = try events(
            [event("m.room.message", id: "$1", reply), text(#"> <@ben:t> by hand"#, id: "$2")], of: &book)
        #expect(seen.map { $0.message?.text } == ["no thanks", "> <@ben:t> by hand"])
        #expect(seen.map { $0.message?.replyTo } == ["$0", nil])
    }

    @Test func `a quote that no client has made stays`() throws {
        var book = try book()
        let body = #"> buy now\n\nhello"#
        let reply =
            #"{"msgtype":"m.text","body":"\#(body)","m.relates_to":{"m.in_reply_to":{"event_id":"$0"}}}"#
        #expect(
            try events([event("m.room.message", reply)], of: &book).first?.message?.text
                == "> buy now\n\nhello")
    }

    @Test func `in a thread only what says so is an answer`() throws {
        var book = try book()
        func message(_ id: String, fallback: Bool) -> String {
            event(
                "m.room.message", id: id,
                #"{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.thread","event_id":"$root","is_falling_back":\#(fallback),"m.in_reply_to":{"event_id":"$last"}}}"#
            )
        }
        let seen = try events([message("$1", fallback: true), message("$2", fallback: false)], of: &book)
        #expect(seen.map { $0.message?.replyTo } == [nil, "$last"])
    }

    @Test func `words that only the formatted text has are seen, too`() throws {
        var book = try book()
        func message(_ id: String, _ body: String, _ html: String) -> String {
            event(
                "m.room.message", id: id,
                #"{"msgtype":"m.text","body":"\#(body)","format":"org.matrix.custom.html","formatted_body":"\#(html)"}"#
            )
        }
        let seen = try events(
            [
                message("$1", "**hello** you", "<b>hello</b> you"),
                message("$2", "hello", "hello <b>b</b>uy &#99;heap"),
                message("$3", "hi", "<mx-reply><blockquote>spam</blockquote></mx-reply>hi"),
            ], of: &book)
        #expect(seen.map { $0.message?.text } == ["**hello** you", "hello\nhello buy cheap", "hi"])
    }

    // MARK: Edits, reactions, redactions

    @Test func `an edit counts if it is by who wrote the message`() throws {
        var book = try book()
        func edit(_ id: String, of original: String, by sender: String, _ new: String) -> String {
            event(
                "m.room.message", id: id, by: sender,
                #"{"msgtype":"m.text","body":"* \#(new)","m.new_content":{"msgtype":"m.text","body":"\#(new)"},"m.relates_to":{"rel_type":"m.replace","event_id":"\#(original)"}}"#
            )
        }
        let seen = try events(
            [
                text("first", id: "$1"), edit("$2", of: "$1", by: "@ana:t", "second"),
                edit("$3", of: "$1", by: "@eve:t", "forged"),
                edit("$4", of: "$gone", by: "@ana:t", "of what"),
                edit("$5", of: "$2", by: "@ana:t", "of an edit"),
            ], of: &book)
        #expect(seen.map(\.short) == ["!r + Ana: first", "!r ~ Ana: second"])
        #expect(seen.map(\.id) == ["$1", "$2"])
        #expect(seen.map { $0.message?.id } == ["$1", "$1"])
        #expect(book.recent.edits(of: "$1") == ["$2", "$3"])
    }

    @Test(arguments: [#","redacts":"$1""#, ""]) func `what is taken away`(_ old: String) throws {
        var book = try book()
        let content = old.isEmpty ? #"{"redacts":"$1"}"# : "{}"
        let reaction = #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"👍"}}"#
        let seen = try told(
            [
                text("spam", id: "$1", by: "@eve:t"), event("m.reaction", id: "$2", reaction),
                event("m.room.redaction", id: "$3", by: "@ana:t", content, more: old),
                event("m.room.redaction", id: "$4", by: "@ana:t", #"{"redacts":"$2"}"#),
                event("m.room.redaction", id: "$5", by: "@ana:t", #"{"redacts":"$unknown"}"#),
                // What was redacted before it was read.
                event("m.room.message", id: "$6", "{}"),
            ], of: &book)
        #expect(seen == ["+ eve: spam", "👍 on $1", "- eve:  by @ana:t", "no 👍 on $1"])
    }

    // MARK: Members

    @Test(arguments: [
        ("join", nil, "@ben:t", "joined ben"), ("join", "leave", "@ben:t", "joined ben"),
        ("join", "invite", "@ben:t", "joined ben"), ("join", "ban", "@ben:t", "joined ben"),
        ("leave", "join", "@ben:t", "left ben"), ("leave", "join", "@ana:t", "left ben by @ana:t"),
        ("leave", "invite", "@ben:t", ""), ("leave", "invite", "@ana:t", ""), ("leave", "ban", "@ana:t", ""),
        ("leave", "knock", "@ana:t", ""), ("ban", "join", "@ana:t", "banned @ben:t by @ana:t"),
        ("ban", nil, "@ana:t", "banned @ben:t by @ana:t"),
        ("ban", "leave", "@ana:t", "banned @ben:t by @ana:t"),
        ("invite", nil, "@ana:t", "invited @ben:t by @ana:t"), ("knock", nil, "@ben:t", ""),
        ("dance", nil, "@ben:t", ""),
    ])
    func `memberships`(_ kind: String, _ before: String?, _ sender: String, _ expected: String) throws {
        var book = try book()
        let seen = try told([member(kind, "@ben:t", by: sender, before: before)], of: &book)
        #expect(seen == (expected.isEmpty ? [] : [expected]))
    }

    @Test func `a new name or picture is no join`() throws {
        var book = try book()
        let old = #"{"prev_content":{"membership":"join","displayname":"Ana"},"replaces_state":"$x"}"#
        #expect(
            try told(
                [
                    member("join", "@ana:t", id: "$1", name: "Anna", unsigned: old), text("hi"),
                    // The same again, as some servers do.
                    member(
                        "join", "@ana:t", id: "$2", name: "Anna",
                        unsigned: #"{"prev_content":{"membership":"join","displayname":"Anna"}}"#),
                ], of: &book) == ["updated Anna", "+ Anna: hi"])
    }

    @Test func `where the server does not say what was before, nobody is welcomed twice`() throws {
        var book = try book()
        let hidden = #"{"replaces_state":"$x"}"#
        #expect(
            try told(
                [member("join", "@ana:t", id: "$1", name: "Anna", unsigned: hidden)], of: &book) == [
                    "updated Anna"
                ])
        #expect(
            try told([member("leave", "@ana:t", id: "$2", unsigned: hidden)], of: &book) == ["left Anna"])
    }

    @Test func `members who come along with what they say are no newcomers`() throws {
        var book = try book()
        let seen = try told(
            [text("hello", by: "@cho:t")], of: &book,
            state: [member("join", "@cho:t", id: "$old", name: "Cho")])
        #expect(seen == ["+ Cho: hello"])
    }

    @Test func `programs are known by their names`() throws {
        var book = try book()
        let seen = try events([text("beep", by: "@my-bot:t")], of: &book)
        #expect(seen.first?.member?.isBot == true)
    }

    // MARK: Power

    @Test func `creators of rooms of version 12 stand above all others`() throws {
        let book = try book(version: "12")
        let room = try #require(book.rooms[Self.room])
        #expect(room.level(of: "@ana:t") == PowerLevels.endless)
        #expect(room.roles(of: "@ana:t").first == "creator")
        #expect(room.roles(of: "@bot:t") == ["power 50"])
        #expect(room.roles(of: "@eve:t") == [])
        let moderator = Directory.Role(words: ["matrix": ["power 50+"]])
        let directory = Directory(roles: ["moderator": moderator])
        for (user, isIn) in [("@ana:t", true), ("@bot:t", true), ("@eve:t", false)] {
            let member = book.member(user, in: Self.room)
            #expect(directory.hasRole("moderator", member, account: "matrix") == isIn)
        }
    }

    @Test func `a change of power is told of whom it is about`() throws {
        var book = try book()
        let levels =
            #"{"users":{"@ana:t":100,"@bot:t":"50","@eve:t":-1,"@ben:t":50},"events_default":0}"#
        let frozen = #"{"users":{"@ana:t":100,"@bot:t":50,"@eve:t":-1,"@ben:t":50},"events_default":50}"#
        #expect(
            try told(
                [
                    event("m.room.power_levels", id: "$1", levels, key: ""),
                    event("m.room.power_levels", id: "$2", frozen, key: ""),
                ], of: &book) == ["updated ben by @ana:t", "muted @eve:t by @ana:t", "frozen"])
        #expect(book.member("@ben:t", in: Self.room).roles == ["power 50"])
    }

    @Test func `muting keeps what somebody could do before`() throws {
        var levels = MutedLevels(["users": ["@ben:t": 25, "@ana:t": 100], "events": ["m.reaction": -5]])
        let muted = ["@ben:t", "@eve:t", "@eve:t"].map { levels.mute($0) }
        #expect(muted == [true, true, false])
        #expect(levels.content["users"] == ["@ben:t": -6, "@ana:t": 100, "@eve:t": -6])
        let given = ["@ben:t", "@eve:t", "@ana:t"].map { levels.unmute($0) }
        #expect(given == [true, true, false])
        #expect(
            JSON.object(levels.content) == [
                "users": ["@ben:t": 25, "@ana:t": 100], "events": ["m.reaction": -5],
            ])
    }

    // MARK: What goes out

    @Test func `nobody is notified who is not named`() {
        func content(_ text: String, _ mentions: [String] = []) -> JSON {
            .object(MessageText(text, mentions: mentions) { $0 == "@ana:t" ? "Ana <3" : "Ana" }.content)
        }
        #expect(content("hello @room and @Ana") == ["body": "hello @room and @Ana", "m.mentions": [:]])
        #expect(content("all", ["@room"]) == ["body": "all", "m.mentions": ["room": true]])
        #expect(
            content("a < b\n@Ana <3, @Ana", ["@ana:t", "@ana:u"]) == [
                "body": "a < b\n@Ana <3, @Ana", "m.mentions": ["user_ids": ["@ana:t", "@ana:u"]],
                "format": "org.matrix.custom.html",
                "formatted_body":
                    "a &lt; b<br><a href=\"https://matrix.to/#/%40ana%3At\">Ana &lt;3</a>, <a href=\"https://matrix.to/#/%40ana%3Au\">Ana</a>",
            ])
    }

    @Test func `servers are kept out, and never our own`() {
        var rules = ServerRules(nil)
        let first = rules.deny(["evil.org", "*.evil.org", "T*", "t.example", "?.*"], own: "T.example:8448")
        let again = rules.deny(["evil.org"], own: "t.example")
        #expect([first, again] == [true, false])
        #expect(
            JSON.object(rules.content) == ["allow": ["*"], "deny": ["evil.org", "*.evil.org"]])
        let isAdmitted = rules.admit(["evil.org"])
        #expect(isAdmitted)
        #expect(rules.content["deny"] == ["*.evil.org"])
    }

    @Test(arguments: [
        SyncPosition(since: "s1_2"), SyncPosition(since: "s1", done: ["!a": "$1", "!b:t": "$2"]),
    ])
    func `how far steward is can be written down`(_ position: SyncPosition) {
        #expect(SyncPosition(position.text) == position)
    }

    @Test func `a token of a server that looks like ours is taken as it is`() {
        #expect(SyncPosition("{\"a\":1}") == SyncPosition(since: "{\"a\":1}"))
    }
}
