import Chat
import Testing

@testable import Rules

@Suite struct TemplateTests {
    private func reply(_ template: String, to text: String = "x", name: String? = nil, more: String = "")
        throws -> String
    {
        let scene = try Scene(
            """
            version: 1
            vars: {handbook: "https://example.org/h"}
            rules:
              it:
                when: messageAdded
                do: [{reply: {text: '\(template.replacing("'", with: "''"))'\(more)}}]
            """)
        let message = scene.message(text, by: scene.member("ana", name: name))
        let lines = scene.take(scene.event(.messageAdded(message), in: scene.channel("general", title: "")))
        return lines.first.map { String($0.dropFirst("reply general: ".count)) } ?? "nothing"
    }

    @Test(arguments: [
        ("Hi {{ user.name }}!", "Hi ana!"), ("{{user}}", "ana"),
        ("{{ message.text | upper }}", "HELLO BIG WORLD"),
        ("{{ message.text | title }}", "Hello Big World"), ("{{ message.text | truncate(8) }}", "hello b…"),
        ("{{ message.text | count }}", "15"), ("{{ message.text | first }}", "hello"),
        ("{{ message.text | last | upper }}", "WORLD"), ("{{ message.text | after('BIG') | trim }}", "world"),
        ("{{ message.text | before(' big') }}", "hello"),
        ("{{ message.text | after('x') | default('none') }}", "none"),
        ("{{ message.text | replace('l', 'L') }}", "heLLo big worLd"),
        ("{{ message.text | url }}", "hello%20big%20world"),
        ("{{ message.text | json }}", "\"hello big world\""),
        ("{{ message.text | code }}", "`hello big world`"),
        ("{{ message.text | quote }}", "> hello big world"),
        ("{{ channel.title | default(\"This room\") }}", "This room"),
        ("{{ channel.title | default(user.name) }}", "ana"),
        ("{{ channel.members | plural('member', 'members') }}", "3 members"),
        ("{{ channel.name }} {{ service.name }}", "general twilio"),
        ("{{ vars.handbook }}", "https://example.org/h"),
        ("{{ user.member_for | duration }}", "nothing"), ("a {{ '{{' }} b", "a {{ b"), ("} {", "} {"),
        ("{{ message.attachments | join(', ') | default('no files') }}", "no files"),
        ("{{ user.messages | plural('message', 'messages') }}", "0 messages"),
        ("{{ message.sent | date('EEE d MMM yyyy HH:mm', 'Europe/Oslo') }}", "Thu 28 May 2026 22:26"),
        ("{{ message.sent | date(\"HH:mm 'o''clock'\") }}", "20:26 o'clock"),
        ("{{ message.sent }}", "2026-05-28 20:26 UTC"),
    ])
    func `values and filters`(_ template: String, _ expected: String) throws {
        #expect(try reply(template, to: "hello big world") == expected)
    }

    @Test func `who is seen for the first time in this moment was not away for no time at all`() throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    do: [{reply: \"{{ user.away | default('never seen') }}\"}]\n")
        #expect(scene.say("x") == ["reply general: never seen"])
        // They joined by writing this.
        scene.facts["ana"] = MemberFacts(firstSeen: scene.now, lastSeen: scene.now)
        #expect(scene.say("x") == ["reply general: never seen"])
        scene.facts["ana"] = MemberFacts(firstSeen: scene.now - .seconds(60), lastSeen: scene.now)
        #expect(scene.say("x") == ["reply general: 0 seconds"])
        scene.facts["ana"]?.lastSeen = scene.now - .seconds(60)
        #expect(scene.say("x") == ["reply general: 1 minute"])
    }

    @Test func `all mistakes of a template are shown at once`() {
        let text = """
            version: 1
            rules:
              it:
                when: messageAdded
                do:
                  - reply: "{{ user.nme }} {{ nix }} {{ user.name | uper | truncate('x') | join }} {{ a b }} {{ messages.x | lowr('}}', b) }} {{ {{ user | date }} {{ | trim"
            """
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        let written = "      - reply: \""
        let line = text.split(separator: "\n")[5].dropFirst(written.count)
        let found = errors.map { error in
            "\(line.dropFirst(error.column - written.count - 1).prefix(6)): \(error.problem)"
        }
        #expect(
            found == [
                #"user.n: unknown value "user.nme""#, #"nix }}: unknown value "nix""#,
                #"uper |: unknown filter "uper""#, #"trunca: "truncate" takes a number, not "x""#,
                #"a b }}: unknown value "a""#, #"b }} {: "b" does not belong here"#,
                #"messag: "messages" are there only with batch:"#, #"lowr(': unknown filter "lowr""#,
                #"b) }} : unknown value "b""#, #"{{ use: this is not the name of a value"#,
                #"date }: "date" takes 1 to 2 arguments, not 0"#, #"| trim: this is not the name of a value"#,
            ])
    }

    @Test func `a name that is a template prints as it is`() throws {
        #expect(
            try reply("Hi {{ user.name }}", to: "secret", name: "{{ message.text }}")
                == "Hi {{ message.text }}")
        #expect(
            try reply("{{ message.text }}", to: "{{ vars.handbook | upper }}")
                == "{{ vars.handbook | upper }}")
    }

    @Test(arguments: [
        ("{{ message.text }}", "@everyone", "@\u{200B}everyone"),
        ("@{{ message.text }}", "everyone", "@\u{200B}everyone"),
        ("{{ message.text }}everyone", "@", "@\u{200B}everyone"),
        ("`{{ message.text }}`", "` @here `", "`` @\u{200B}here ``"),
        ("{{ message.text | code }}", "` @here `", "`\u{2CB} @\u{200B}here \u{2CB}`"),
        ("{{ message.text | upper }}", "@all", "@\u{200B}ALL"),
        ("{{ message.text | quote }}", "@all", "> @\u{200B}all"),
        ("{{ message.text | json }}", "@all", "\"@\u{200B}all\""),
        ("{{ user.mention }}", "x", "@\u{200B}ana"),
        ("{{ user | mention }}", "x", "@\u{200B}ana"), ("ask @ben", "x", "ask @ben"),
    ])
    func `nobody is called through the bot`(_ template: String, _ text: String, _ expected: String) throws {
        #expect(try reply(template, to: text) == expected)
    }

    @Test func `who is named in mention is called, and nobody else`() throws {
        #expect(
            try reply("{{ user.mention }}, see {{ message.text }}", to: "@ana", more: ", mention: [user]")
                == "@ana, see @\u{200B}ana [calls ana]")
    }

    @Test func `markup in people's text is escaped where the service has markup`() throws {
        var abilities = Scene.abilities
        abilities.markup = .markdown
        let scene = try Scene(
            rule: "    when: messageAdded\n    do: [{reply: \"**{{ message.text }}**\"}]\n",
            abilities: abilities)
        #expect(scene.say("a*b`c_d") == ["reply general: **a\\*b\\`c\\_d**"])
        #expect(
            scene.say("- x\n12. y-z\n==\n1.5 a&lt;") == [
                "reply general: **\\- x\n12\\. y-z\n\\==\n1\\.5 a\\&lt;**"
            ])
    }

    @Test func `people's text is no markup in HTML either`() throws {
        var abilities = Scene.abilities
        abilities.markup = .html
        let scene = try Scene(
            rule:
                "    when: messageAdded\n    do: [{reply: \"<b>{{ message.text }}</b> {{ message.text | code }}\"}]\n",
            abilities: abilities)
        #expect(
            scene.say("<i>\"&@all") == [
                "reply general: <b>&lt;i&gt;&quot;&amp;@\u{200B}all</b> <code>&lt;i&gt;&quot;&amp;@\u{200B}all</code>"
            ])
    }

    @Test func `a text that comes to nothing is not sent`() throws {
        #expect(try reply("{{ message.text | after('no such') }}") == "nothing")
    }

    @Test(arguments: [
        ("{{ user.nme }}", "unknown value \"user.nme\" - did you mean \"user.name\"?"),
        ("{{ usr.name }}", "unknown value \"usr.name\" - did you mean \"user.name\"?"),
        ("{{ vars.handbok }}", "unknown variable \"handbok\" - did you mean \"vars.handbook\"?"),
        ("{{ match.who }}", "unknown group \"who\" - name a group of the regex: (?<who>...)"),
        ("{{ user.name | uper }}", "unknown filter \"uper\" - did you mean \"upper\"?"),
        ("{{ user.name | truncate }}", "\"truncate\" takes 1 argument, not 0"),
        ("{{ user.name | truncate('x') }}", "\"truncate\" takes a number, not \"x\""),
        ("{{ user.name | plural('a', 'b') }}", "\"plural\" needs a number, not text"),
        ("{{ message.text | duration }}", "\"duration\" needs a duration, not text"),
        ("{{ user.name", "\"{{\" is not closed"), ("{{ }}", "a value is missing - try {{ user.name }}"),
        (
            "{{ message.sent | date('x', 'UTC') }}",
            "\"x\" in the date pattern \"x\" has no meaning - text stands in single quotes"
        ),
        (
            "{{ message.sent | date('HH:mm', 'Europe/Olso') }}",
            "unknown time zone \"Europe/Olso\" - did you mean \"Europe/Oslo\"?"
        ),
        (
            "{{ message.sent | date(user.name) }}",
            "\"date\" takes texts in quotes - try date('EEE HH:mm', 'Europe/Oslo')"
        ),
        ("{{ user.name | date('HH:mm') }}", "\"date\" needs a time, not text"),
        ("{{ counters.karma }}", "unknown counter \"karma\" - declare it under counters:"),
        (
            "{{ user.messages | of(user) }}",
            "\"of\" belongs directly behind a counter - write {{ counters.name | of(user) }}"
        ),
        ("{{ users | count }}", "\"users\" are there only with batch: - use user"),
        ("{{ body.status }}", "\"body\" is not built yet"),
        ("{{ user name }}", "\"n\" does not belong here - a value is written {{ name | filter }}"),
    ])
    func `a value that can never exist is an error when the rules are read`(
        _ template: String, _ expected: String
    ) {
        let text = """
            version: 1
            vars: {handbook: x}
            rules: {it: {when: messageAdded, do: [{reply: '\(template.replacing("'", with: "''"))'}]}}
            """
        let errors = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.count == 1)
        let said = errors.first.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } ?? ""
        #expect(said == expected || said == expected + " - close it with \"}}\"")
    }
}

@Suite struct TextPartsTests {
    @Test(arguments: [
        ("short", 10, ["short"]),
        ("one two three four five six", 24, ["one two three", "four five six"]),
        ("first line\nsecond line here", 24, ["first line", "second line here"]),
    ])
    func `a text over the limit is cut at lines and words`(_ text: String, _ limit: Int, _ expected: [String])
    {
        #expect(TextParts.split(text, .init(limit, .codePoints)) == expected)
    }

    @Test(arguments: [Abilities.TextLimit.Unit.bytes, .codePoints, .utf16], [20, 37, 100])
    func `no part is over the limit, no letter is cut, and there are five at most`(
        _ unit: Abilities.TextLimit.Unit, _ limit: Int
    ) {
        let family = "👨‍👩‍👧‍👦"
        for text in [
            String(repeating: family, count: 60), String(repeating: "e\u{301}", count: 300),
            String(repeating: "word ", count: 200),
            "```\n" + String(repeating: "let a = 1\n", count: 40) + "```",
            "x" + String(repeating: "\u{301}", count: 500),
        ] {
            let parts = TextParts.split(text, .init(limit, unit))
            #expect(!parts.isEmpty && parts.count <= 5)
            for part in parts {
                let length =
                    switch unit {
                    case .bytes: part.utf8.count
                    case .codePoints: part.unicodeScalars.count
                    case .utf16: part.utf16.count
                    }
                #expect(length <= limit && length > 0)
            }
        }
        let parts = TextParts.split(String(repeating: family, count: 4), .init(60, .bytes))
        #expect(parts.joined() == String(repeating: family, count: 4))
    }

    @Test func `a code fence that is cut is closed and opened again`() {
        let code = "```swift\n" + String(repeating: "let a = 1\n", count: 8) + "```"
        let parts = TextParts.split(code, .init(60, .utf16))
        #expect(parts.count > 1)
        for part in parts {
            #expect(part.hasPrefix("```swift\n"))
            #expect(part.hasSuffix("```"))
        }
    }

    @Test(arguments: ["````", "~~~", "~~~~~", "``````````", "  ```"])
    func `a fence is closed as it was opened, whatever stands in it`(_ fence: String) {
        let other = fence.contains("~") ? "```" : "~~~"
        let code = "\(fence)md\n\(other)\n" + String(repeating: "let a = 1\n", count: 16) + fence
        let parts = TextParts.split(code, .init(80, .utf16))
        #expect(parts.count > 1)
        for part in parts {
            #expect(part.utf16.count <= 80)
            #expect(part.hasPrefix("\(fence)md\n"))
            #expect(part.hasSuffix("\n\(fence.trimmingPrefix("  "))") || part.hasSuffix("\n\(fence)"))
        }
        // Code in a line of its own, and a fence that was closed before the cut.
        for line in ["```let a = 1```", "\(fence)\nlet a = 1\n\(fence)"] {
            let parts = TextParts.split(line + String(repeating: "\nsome more", count: 20), .init(80, .utf16))
            #expect(parts.dropFirst().allSatisfy { $0.hasPrefix("some more") })
            #expect(parts.dropLast().allSatisfy { $0.hasSuffix("some more") })
        }
    }

    @Test func `what five parts do not hold is left out, and says so`() {
        let parts = TextParts.split(String(repeating: "word ", count: 200), .init(50, .codePoints))
        #expect(parts.count == 5)
        #expect(parts.last?.hasSuffix("…") == true)
    }

    @Test func `a long answer goes out in parts, each an action of its own`() throws {
        var abilities = Scene.abilities
        abilities.textLimit = .init(24, .utf16)
        let scene = try Scene(
            rule: "    when: messageAdded\n    do: [{reply: \"{{ message.text }}\"}]\n", abilities: abilities)
        let event = scene.event(
            .messageAdded(scene.message("one two three four five six", by: scene.member("ana"))),
            in: scene.channel("general"))
        let actions = scene.decide(event).flatMap(\.actions)
        #expect(actions.map(describe) == ["reply general: one two three", "reply general: four five six"])
        #expect(actions.map(\.path) == ["do[0]", "do[0].part[1]"])
    }
}
