import Chat
import Matching
import Testing

@testable import Rules

/// What services tell beside messages, and what rules do with channels.
@Suite struct Happenings {
    private static let able = Abilities(
        events: Set(EventName.allCases),
        actions: [
            "reply", "send", "dm", "delete", "react", "kick", "ban", "invite", "join", "leave", "create",
            "title",
            "topic", "acl",
        ], textLimit: .init(32_768, .utf16))

    private func scene(_ rule: String, lists: Set<String> = []) throws -> Scene {
        try Scene("version: 1\nrules:\n  it:\n" + rule, abilities: Self.able, policyLists: lists)
    }

    private func reaction(_ key: String, _ scene: Scene, by id: String = "ana") -> ChatEvent {
        scene.event(
            .reactionAdded(
                Reaction(by: scene.member(id), to: MessageReference(id: "IM7", index: 7), key: key)),
            in: scene.channel("general"))
    }

    @Test func `a reaction is answered at the message it is put to`() throws {
        let scene = try scene(
            """
                when: reactionAdded
                if: {reaction: ["👍", ":heart:"]}
                do:
                  - reply: "{{ user.name }} likes it: {{ reaction.key }}"
            """)
        let decisions = scene.decide(reaction("👍🏽", scene))
        #expect(decisions.flatMap(\.actions).map(describe) == ["reply general: ana likes it: 👍🏽"])
        guard case .reply(_, let message)? = decisions.first?.actions.first?.verb else {
            Issue.record("no reply")
            return
        }
        #expect(message == MessageReference(id: "IM7", index: 7))
        #expect(scene.take(reaction(":heart:", scene)) == ["reply general: ana likes it: :heart:"])
        #expect(scene.take(reaction("❤️", scene)) == [])
        #expect(scene.take(reaction("👎", scene)) == [])
    }

    @Test func `a message is removed by a reaction of a moderator`() throws {
        let scene = try scene(
            """
                when: reactionAdded
                exempt: none
                if:
                  reaction: "🗑️"
                  user: {role: moderator}
                do:
                  - delete
            """)
        #expect(scene.take(reaction("🗑", scene)) == [])
        let moderator = scene.member("mo", roles: ["channel admin"])
        let event = scene.event(
            .reactionAdded(Reaction(by: moderator, to: MessageReference(id: "IM7"), key: "🗑")),
            in: scene.channel("general"))
        #expect(scene.take(event) == ["delete general"])
    }

    @Test func `who was kicked by somebody else left by removal, and the rule says by whom`() throws {
        let scene = try scene(
            """
                when: memberLeft
                if:
                  user: {left_by: removal}
                do:
                  - send: "{{ user.name }} was removed by {{ by.name }}."
            """)
        var event = scene.event(.memberLeft(scene.member("eve")), in: scene.channel("general"))
        #expect(scene.take(event) == [])
        event = scene.event(.memberLeft(scene.member("eve")), in: scene.channel("general"))
        event.by = scene.member("mo").user
        #expect(scene.take(event) == ["send general: eve was removed by mo."])
    }

    @Test func `a rule may ask whether steward, the member or another did it`() throws {
        let scene = try scene(
            """
                when: [memberLeft, memberBanned]
                if: {by: another}
                do:
                  - send: {to: staff, text: "{{ by }} removed {{ user }}"}
            """)
        func left(by id: String?) -> ChatEvent {
            var event = scene.event(.memberBanned(scene.member("eve")), in: scene.channel("general"))
            event.by = id.map { scene.member($0).user }
            return event
        }
        #expect(scene.take(left(by: nil)) == [])
        #expect(scene.take(left(by: "steward")) == [])
        #expect(scene.take(left(by: "mo")) == ["send staff: mo removed eve"])
        let told = scene.rules.explain(left(by: "steward"), in: scene.situation(for: left(by: "steward")))
        #expect(told.description.contains("it was done by steward, not by another"))
    }

    @Test func `who is in a ban list is banned, and the entry is named`() throws {
        let scene = try scene(
            """
                when: memberJoined
                if: {policy: [coc, own]}
                do:
                  - ban: {reason: "{{ policy.list }}: {{ policy.entity }} ({{ policy.reason }})"}
            """, lists: ["coc", "own"])
        scene.directory.policies.set(
            [
                Policy(list: "coc", subject: .user, entity: "@spam*:example.org", reason: "advertising"),
                Policy(list: "coc", subject: .server, entity: "*.evil.example", reason: "raids"),
            ], of: "coc")
        func join(_ id: String) -> ChatEvent {
            scene.event(.memberJoined(scene.member(id)), in: scene.channel("general"))
        }
        #expect(scene.take(join("@ana:example.org")) == [])
        #expect(
            scene.take(join("@spammer1:example.org")) == [
                "ban @spammer1:example.org in general for good: coc: @spam*:example.org (advertising)"
            ])
        #expect(
            scene.take(join("@bob:chat.evil.example:8448")) == [
                "ban @bob:chat.evil.example:8448 in general for good: coc: *.evil.example (raids)"
            ])
        let event = join("@spam:example.org")
        let told = scene.rules.explain(event, in: scene.situation(for: event)).description
        #expect(told.contains("@spam*:example.org in coc (advertising)"))
        // The list changes, and rules see it at once.
        scene.directory.policies.set([], of: "coc")
        #expect(scene.take(join("@spammer1:example.org")) == [])
    }

    @Test func `a ban list that nobody follows is a mistake`() throws {
        var directory = Scene.directory(Self.able)
        directory.policyLists = ["coc"]
        let text = """
            version: 1
            rules:
              it:
                when: memberJoined
                if: {policy: cac}
                do: [ban]
            """
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: directory)
        #expect(
            loaded.errors.map(\.description) == [
                #"bot.yaml:5:18: error: unknown ban list "cac" - did you mean "coc"?"#
            ])
    }

    @Test func `new entries of a ban list become bans and server rules`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              users:
                when: policyAdded
                continue: true
                breaker: none
                if:
                  check: {value: "{{ policy.subject }}", is: user}
                do:
                  - ban: {user: "{{ policy.entity }}", in: lobby, reason: "{{ policy.reason }}"}
              servers:
                when: policyAdded
                breaker: none
                if:
                  check: {value: "{{ policy.subject }}", is: server}
                do:
                  - acl: {deny: "{{ policy.entity }}", in: [lobby, staff]}
            """, abilities: Self.able, policyLists: ["coc"])
        func added(_ subject: Policy.Subject, _ entity: String) -> ChatEvent {
            scene.event(
                .policyAdded(Policy(list: "coc", subject: subject, entity: entity, reason: "spam")), in: nil)
        }
        #expect(
            scene.take(added(.user, "@eve:example.org")) == ["ban @eve:example.org in general for good: spam"]
        )
        #expect(
            scene.take(added(.server, "Evil.example")) == [
                "deny general: evil.example", "deny staff: evil.example",
            ])
    }

    @Test func `all servers of a ban list are kept out at once`() throws {
        let scene = try scene(
            """
                when: serviceUp
                do:
                  - acl: {from: coc, allow: [good.example], in: lobby}
            """, lists: ["coc"])
        scene.directory.policies.set(
            [
                Policy(list: "coc", subject: .server, entity: "evil.example"),
                Policy(list: "coc", subject: .user, entity: "@eve:example.org"),
                Policy(list: "coc", subject: .server, entity: "*.worse.example"),
            ], of: "coc")
        #expect(
            scene.take(scene.event(.serviceUp, in: nil)) == [
                "deny general: evil.example, *.worse.example", "admit general: good.example",
            ])
    }

    @Test func `channels are made, named, joined and left`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              case:
                when: {command: {name: case, args: {who: person}}}
                do:
                  - create: {title: "Case of {{ args.who.name }}", invite: [user, args.who]}
                  - topic: "On duty: {{ user.name }}"
                  - title: {text: "Help", in: support}
                  - join: "#help:example.org"
                  - leave
                  - invite: {user: "{{ args.who }}", in: staff}
            """, abilities: Self.able)
        let event = scene.event(
            .messageAdded(scene.message("!case @eve:example.org", by: scene.member("ana"))),
            in: scene.channel("general"))
        let actions = scene.decide(event).flatMap(\.actions)
        #expect(
            actions.map(describe) == [
                "create Case of @eve:example.org", "topic of general: On duty: ana", "title of support: Help",
                "join #help:example.org", "leave general", "invite @eve:example.org to staff",
            ])
        let then = try #require(actions.first?.then)
        let decision = scene.resume(then, .done(Receipt(channel: "!new")), in: nil)
        #expect(
            decision.actions.map { "\(describe($0)) \($0.path)" } == [
                "invite ana to !new do[0].invite[0]", "invite @eve:example.org to !new do[0].invite[1]",
            ])
    }

    @Test func `a reaction has no text to look at`() throws {
        let text = """
            version: 1
            rules:
              it:
                when: reactionAdded
                if: {text: hello}
                do:
                  - reply: "{{ message.text }}"
              other:
                when: memberJoined
                if: {reaction: "👍"}
                do:
                  - send: "{{ reaction.key }}"
            """
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: Scene.directory(Self.able))
        #expect(
            loaded.errors.map(\.description) == [
                "bot.yaml:5:16: error: reactionAdded has no text to look at",
                #"bot.yaml:7:20: error: reactionAdded has no message, so "message.text" can never exist"#,
                "bot.yaml:10:20: error: memberJoined has no reaction",
                #"bot.yaml:12:19: error: memberJoined has no reaction, so "reaction.key" can never exist"#,
            ])
    }
}

@Suite struct BanLists {
    @Test(arguments: [
        ("@eve:example.org", "@eve:example.org", true), ("@ev?:example.org", "@eve:example.org", true),
        ("@*:example.org", "@eve:example.org", true), ("*", "@eve:example.org", true),
        ("@eve*org", "@eve:example.org", true), ("@eve", "@eve:example.org", false),
        ("@*spam*:*", "@nospamhere:example.org", true), ("@*spam*:*", "@ham:spam.example", false),
        ("?", "", false), ("*", "", true), ("", "x", false),
    ])
    func `patterns match whole names`(_ pattern: String, _ name: String, _ matches: Bool) {
        let lists = PolicyLists()
        let policy = Policy(list: "l", subject: .user, entity: pattern)
        lists.set([policy], of: "l")
        #expect(lists.match(user: name, in: ["l"]) == (matches ? policy : nil))
        #expect(lists.match(user: name, in: []) == nil)
    }

    @Test func `a pattern made to be slow is not`() {
        let lists = PolicyLists()
        let pattern = String(repeating: "*a", count: 100) + "b"
        lists.set([Policy(list: "l", subject: .user, entity: pattern)], of: "l")
        let start = ThreadTime.now
        #expect(lists.match(user: String(repeating: "a", count: 250), in: ["l"]) == nil)
        #expect(ThreadTime.now - start < .seconds(1))
    }
}
