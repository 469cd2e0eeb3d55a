import Chat
import Seeds
import Testing
import Unicode

@testable import Rules

/// What went wrong in the answers of other bots, and does not here.
@Suite struct AnswerFaultsTests {
    @Test func `history of a long outage is not answered, commands neither, and what looks on still sees it`()
        throws
    {
        let scene = try Scene(
            """
            version: 1
            counters: {seen: {per: all, keep: forever}}
            rules:
              word: {when: messageAdded, if: {text: refund}, do: [{reply: x}]}
              command: {when: {command: karma}, do: [{reply: x}]}
              seen: {when: messageAdded, do: [{count: {seen: +1}}, {log: "{{ message.text }}"}]}
            """)
        scene.isStale = true
        #expect(scene.say("refund") == [])
        #expect(scene.say("!karma") == [])
        scene.isStale = false
        #expect(scene.say("refund").count == 1)
        #expect(scene.memory.values.values.contains(.number(3)))
    }

    @Test func `a flaky line is greeted once, and a new name is no arrival`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              welcome:
                when: memberJoined
                once: per user
                batch: 20s
                do: [{send: "Welcome, {{ users | join }}!"}]
            """)
        let channel = scene.channel("general")
        let ana = scene.member("ana")
        var later: [Continuation] = []
        for _ in 0..<20 {
            later += scene.decide(scene.event(.memberJoined(ana), in: channel)).flatMap(\.later)
            #expect(scene.take(scene.event(.memberLeft(ana), in: channel)) == [])
            scene.now = scene.now + .seconds(1)
        }
        #expect(
            scene.take(scene.event(.memberUpdated(scene.member("ana", name: "Ana Lund")), in: channel)) == [])
        #expect(later.count == 1)
        #expect(scene.resume(later[0], in: channel).actions.map(describe) == ["send general: Welcome, ana!"])
    }

    @Test(arguments: ["!nosuch", "!", "!!", "!karma!", "unknown command: !karma", "!kаrma"])
    func `a word that nobody knows is not answered, so two bots cannot talk for ever`(_ text: String) throws {
        #expect(try Scene(CommandTests.bot).say(text) == [])
    }

    @Test(arguments: [
        ("!karma @everyone", "everyone has 0 points."),
        ("!karma \"{{ message.text }}\"", "{{ message.text }} has 0 points."),
        ("!roll 3 fast @here `x`", "3 fast @\u{200B}here `x`"),
        ("!roll 3 {{ vars.x }}", "3 slow {{ vars.x }}"),
        ("!karma @@all", "@\u{200B}all has 0 points."),
    ])
    func `nobody is called and nothing expanded through a command`(_ text: String, _ answer: String) throws {
        #expect(try Scene(CommandTests.bot).say(text) == ["reply general: \(answer)"])
    }

    @Test
    func `whoever is called by name has the points under their id, and nobody takes a name that is an id`()
        throws
    {
        let scene = try Scene(
            """
            version: 1
            counters: {karma: {per: user, keep: forever}}
            rules:
              thanks:
                when: messageAdded
                if:
                  text: {regex: '^thanks @(?<who>[\\p{L}0-9_.-]+)'}
                  user: {is_not: match.who}
                  mentions: {at_least: 1, of: members}
                do: [{count: {karma: {user: "{{ match.who }}"}}}, {react: "👍"}]
              karma:
                when: {command: {name: karma, args: {who: optional person}}}
                do: [{reply: "{{ args.who.name | default(user.name) }}: {{ counters.karma | of(args.who, user) }}"}]
            """)
        func say(_ text: String, _ id: String, _ name: String) -> [String] {
            scene.take(
                scene.event(
                    .messageAdded(scene.message(text, by: scene.member(id, name: name))),
                    in: scene.channel("general")))
        }
        #expect(say("thanks @Ben", "ana", "ana") == [])
        #expect(say("hello", "u17", "Ben") == [])
        #expect(say("thanks @Ben!", "ana", "ana") == ["react general: 👍"])
        #expect(say("thanks @ben.", "ana", "ana") == ["react general: 👍"])
        #expect(say("thanks @u17", "ana", "ana") == ["react general: 👍"])
        #expect(say("thanks @ben.", "u17", "Ben") == [])
        #expect(say("!karma", "u17", "Ben") == ["reply general: Ben: 3"])
        #expect(say("!karma @BEN", "ana", "ana") == ["reply general: Ben: 3"])
        #expect(say("!karma u17", "ana", "ana") == ["reply general: Ben: 3"])
        #expect(say("hello", "u17", "Benjamin") == [])
        #expect(say("!karma benjamin", "ana", "ana") == ["reply general: Benjamin: 3"])
        // Eve calls herself as Ana's id is; the points stay Ana's.
        #expect(say("hello", "eve", "Ana") == [])
        #expect(say("thanks @Ana", "u17", "Benjamin") == ["react general: 👍"])
        #expect(say("!karma", "ana", "ana") == ["reply general: ana: 1"])
        #expect(say("!karma", "eve", "Ana") == ["reply general: Ana: 0"])
    }

    @Test func `a quote above it neither hides a command nor calls one`() throws {
        let scene = try Scene(CommandTests.bot)
        #expect(scene.say("> hello\n> you\n\n!karma") == ["reply general: ana has 0 points."])
        #expect(scene.say("> !karma") == [])
        #expect(scene.say("> !karma\nwhat was that?") == [])
    }

    @Test(.timeLimit(.minutes(1)), arguments: [" ", "> x\n", "a ", "\"", "@", "\u{301}", "!", "`", "👨‍👩‍👧‍👦"])
    func `a text made to be slow is not slow behind a command`(_ piece: String) throws {
        let long = String(repeating: piece, count: 20_000)
        let scene = try Scene(CommandTests.bot)
        for text in ["!roll 3 fast " + long, "!karma " + long, long + "!karma", "!" + long, "> " + long] {
            for action in scene.say(text) { #expect(action.utf16.count <= 33_000) }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `whatever people write, nobody is called and nothing is over the limit`()
        throws
    {
        var random = SeededRandom(seed: 23)
        let pieces = [
            "@", "everyone", "\u{200B}", "`", "```", "\n", " ", "{{", "}}", "user.name", "|", "é", "e\u{301}",
            "👩‍🚀", "\u{202E}", "<b>", "&", "*", "_", "1.", "-", "ﷺ", "\u{0}", "x", "\\", "\"", "漢字",
        ]
        var scenes: [(Scene, Abilities)] = []
        for markup in [Abilities.Markup.plain, .markdown, .html] {
            for limit in [Abilities.TextLimit(40, .utf16), .init(60, .bytes), .init(25, .codePoints)] {
                var abilities = Scene.abilities
                abilities.markup = markup
                abilities.textLimit = limit
                let scene = try Scene(
                    """
                    version: 1
                    rules:
                      it:
                        when: messageAdded
                        vars: {both: "@{{ message.text }}{{ user }}"}
                        do:
                          - reply: "@{{ message.text }}{{ user.name }} {{ vars.both | truncate(30) }}"
                          - send: "{{ message.text | code }} {{ message.text | quote }} {{ vars.both }}"
                          - reply: {text: "{{ user.mention }}{{ message.text | title | json }}", split: false}
                    """, abilities: abilities)
                scenes.append((scene, abilities))
            }
        }
        func text() -> String {
            (0..<Int.random(in: 1...20, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
        }
        for round in 0..<600 {
            let (scene, abilities) = scenes[round % scenes.count]
            let message = scene.message(text(), by: scene.member("ana", name: text()))
            let event = scene.event(.messageAdded(message), in: scene.channel("general"))
            for action in scene.decide(event).flatMap(\.actions) {
                guard let outgoing = action.outgoing else { continue }
                let unit: TextUnit =
                    switch abilities.textLimit.unit {
                    case .bytes: .utf8
                    case .codePoints: .scalars
                    case .utf16: .utf16
                    }
                #expect(outgoing.text.length(in: unit) <= abilities.textLimit.count)
                #expect(outgoing.mentions == [])
                #expect(!outgoing.text.contains("@everyone"), "\(message.text.debugDescription)")
            }
        }
    }
}

extension ChatAction {
    fileprivate var outgoing: Outgoing? {
        switch verb {
        case .send(let outgoing), .reply(let outgoing, _), .direct(let outgoing, _): outgoing
        default: nil
        }
    }
}
