import Chat
import Testing

@testable import Rules

@Suite struct BatchTests {
    private let bot = """
        version: 1
        rules:
          welcome:
            when: memberJoined
            in: lobby
            if: {user: {bot: false}}
            once: per user
            batch: 20s
            do:
              - send: {text: "Welcome, {{ users | mention | join }}! {{ channel.title }}", mention: users}
              - dm: "Hi {{ user.name }}"
        """

    private func join(_ scene: Scene, _ id: String, in channel: String = "general") -> Decision {
        let event = scene.event(.memberJoined(scene.member(id)), in: scene.channel(channel))
        return scene.decide(event).first ?? .nothing
    }

    @Test func `two arrivals share one greeting`() throws {
        let scene = try Scene(bot)
        let first = join(scene, "ana")
        #expect(first.actions == [] && first.later.count == 1)
        #expect(first.later.first?.due == scene.now + .seconds(20))
        scene.now = scene.now + .seconds(3)
        #expect(join(scene, "ana").isEmpty)
        let second = join(scene, "ben")
        #expect(second.actions == [] && second.later == [])
        scene.now = scene.now + .seconds(17)
        let continuation = try #require(first.later.first)
        let said = scene.resume(continuation, in: scene.channel("general")).actions.map(describe)
        #expect(
            said == [
                "send general: Welcome, @ana and @ben! General [calls ana, ben]", "dm ana: Hi ana",
                "dm ben: Hi ben",
            ])
        // It came twice, as after a crash between two writes: nothing more.
        #expect(scene.resume(continuation, in: scene.channel("general")).isEmpty)
        #expect(join(scene, "ben").isEmpty)
        #expect(join(scene, "cho").later.count == 1)
    }

    @Test func `a channel that is only known by its id keeps its title`() throws {
        let scene = try Scene(bot)
        let continuation = try #require(join(scene, "ana").later.first)
        let bare = Channel(id: scene.channel("general").id)
        let said = scene.resume(continuation, in: bare).actions.map(describe)
        #expect(said == ["send general: Welcome, @ana! General [calls ana]", "dm ana: Hi ana"])
    }

    @Test func `a batch that is full is acted on at once, and its time passes without a word`() throws {
        let scene = try Scene(bot.replacing("{{ users | mention | join }}", with: "{{ users | names(2) }}"))
        let first = join(scene, "u1")
        for number in 2..<Batch.most { #expect(join(scene, "u\(number)").actions == []) }
        let full = join(scene, "u\(Batch.most)")
        #expect(full.actions.count == 1 + Batch.most)
        #expect(
            full.actions.first.map(describe)?.hasPrefix(
                "send general: Welcome, u1, u2 and 498 others! General")
                == true)
        let continuation = try #require(first.later.first)
        #expect(scene.resume(continuation, in: scene.channel("general")).isEmpty)
    }

    @Test func `messages are collected, and each gets what is for one`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it:
                when: messageAdded
                if: {text: x}
                batch: 1m
                cooldown: 10m per channel
                do:
                  - react: "👀"
                  - reply: "{{ messages | count }}: {{ messages | last }} {{ users | join }}"
                  - relay: staff
            """)
        let channel = scene.channel("general")
        func say(_ text: String, _ id: String) -> Decision {
            scene.decide(
                scene.event(.messageAdded(scene.message(text, by: scene.member(id))), in: channel)
            ).first ?? .nothing
        }
        let continuation = try #require(say("x 1", "ana").later.first)
        #expect(say("x @2", "ana").actions == [])
        let said = scene.resume(continuation, in: channel).actions.map(describe)
        #expect(
            said == [
                "react general: 👀", "react general: 👀", "reply general: 2: x @\u{200B}2 ana",
                "send staff: ana: x 1", "send staff: ana: x @\u{200B}2",
            ])
        #expect(say("x", "ben").isEmpty)
        scene.now = scene.now + .seconds(601)
        #expect(say("x", "ben").later.count == 1)
    }

    @Test func `a branch may look at what was collected`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it:
                when: memberJoined
                batch: 10s
                do:
                  - choose:
                      - if: {check: {value: "{{ users | count }}", is: 2+}}
                        do: [{send: "Welcome, all {{ users | count }}!"}]
                      - do: [{send: "Welcome, {{ user }}!"}]
            """)
        let channel = scene.channel("general")
        var continuation = try #require(join(scene, "ana").later.first)
        #expect(
            scene.resume(continuation, in: channel).actions.map(describe) == ["send general: Welcome, ana!"])
        continuation = try #require(join(scene, "ben").later.first)
        _ = join(scene, "cho")
        #expect(
            scene.resume(continuation, in: channel).actions.map(describe) == ["send general: Welcome, all 2!"]
        )
    }

    @Test func `a rule that was renamed or lost its batch meanwhile says so or goes on`() throws {
        let scene = try Scene(bot)
        let continuation = try #require(join(scene, "ana").later.first)
        let channel = scene.channel("general")
        let event = scene.event(.resumed(continuation, .due), in: channel)
        func decide(_ text: String) throws -> Decision {
            let source = BotSource(name: "bot.yaml", bytes: Array(text.utf8))
            let rules = try #require(RuleSet.load([source], directory: scene.directory).rules)
            let handler = try #require(rules.handlers.first { $0.resumes(owner: continuation.owner) })
            return try handler.decide(event, in: scene.situation(for: event))
        }
        let renamed = bot.replacing("  welcome:\n", with: "  greet:\n    was: welcome\n")
        #expect(
            try decide(renamed).actions.map(describe).first
                == "send general: Welcome, @ana! General [calls ana]")
        let dry = try decide(bot + "\n    run: dry\n")
        #expect(dry.actions == [] && dry.changes.count == 1)
        #expect(dry.notes.map(\.text) == ["1 collected events are dropped, because it is dry now"])
    }

    @Test func `explain tells of those who are waited for`() throws {
        let scene = try Scene(bot)
        _ = join(scene, "ana")
        scene.now = scene.now + .seconds(5)
        let event = scene.event(.memberJoined(scene.member("ben")), in: scene.channel("general"))
        let said = scene.rules.explain(event, in: scene.situation(for: event)).description
        #expect(said.contains("collect with 1 before, and in 15 seconds:"))
        #expect(said.contains("Welcome, @ben!"))
    }

    @Test(arguments: [
        (
            "when: messageAdded, batch: 20s, do: [delete]",
            "a rule that deletes or warns cannot wait for others"
        ),
        ("when: {command: x}, batch: 20s, do: [{reply: x}]", "a command is answered at once"),
        ("when: messageAdded, batch: 10ms, do: [{reply: x}]", "events are collected for 1s to 1d"),
        (
            "when: messageAdded, batch: 20s, do: [{reply: \"{{ user.away }}\"}]",
            "when a batch is acted on, \"user.away\" is not known any more"
        ),
        (
            "when: messageAdded, batch: 20s, do: [{choose: [{if: {text: x}, do: [stop]}]}]",
            "a batch is acted on later, and its branches cannot ask for text or user"
        ),
    ])
    func `a batch that cannot be is an error`(_ rule: String, _ expected: String) {
        let text = "version: 1\nrules: {it: {\(rule)}}"
        let errors = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map(\.problem) == [expected])
    }
}
