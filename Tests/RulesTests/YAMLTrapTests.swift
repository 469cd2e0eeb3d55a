import Chat
import Testing

@testable import Rules

/// What YAML does to lines that look natural, and what steward makes of them.
@Suite struct YAMLTraps {
    private func findings(_ value: String, key: String = "about") -> [String] {
        let text = """
            version: 1
            rules:
              a:
                when: messageAdded
                \(key): \(value)
                if: {text: x1}
                do: [{reply: hi}]
            """
        return RuleSet.load([BotSource(name: "x", bytes: Array(text.utf8))]).findings.map(\.description)
    }

    /// Truth values, numbers, times and dates of YAML 1.1.
    @Test(arguments: [
        "no", "yes", "on", "off", "22:00", "012", "0x10", "1_000", "2026-01-05", "~", "null", "1e3",
    ])
    func `a text is what was written, whatever YAML sees in it`(_ written: String) throws {
        let scene = try Scene(
            "version: 1\nvars: {v: \(written)}\nrules:\n  a: {when: messageAdded, if: {text: [\(written)]}, do: [{reply: \"{{ vars.v }}\"}]}"
        )
        #expect(scene.say("it is \(written)") == ["reply general: \(written)"])
        #expect(findings(written) == [])
    }

    @Test(arguments: [
        ("also", "yes", "x:5:11: error: \"yes\" is not a true/false (yes/no/on/off are text here)"),
        ("about", "#lobby", "x:5:12: error: value is empty - did you mean \"#lobby\" in quotes?"),
        (
            "about", "50% off # half",
            "x:5:20: warning: \"# half\" is a comment, not part of the text - put the whole text in quotes if it belongs to it"
        ),
        (
            "about", "> 7d",
            "x:5:12: error: \">\" begins a text of several lines in YAML - put the value in quotes: \"> 7d\""
        ),
        ("in", "[a, @bob]", "x:5:13: error: \"@\" cannot begin a value - put the value in quotes: \"@bob\""),
        (
            "about", "`code`",
            "x:5:12: error: \"`\" cannot begin a value - put the value in quotes: \"`code`\""
        ),
        (
            "about", "*.zip",
            "x:5:12: error: \"*\" begins an alias or anchor in YAML - put the value in quotes: \"*.zip\""
        ),
        (
            "about", "foo: bar",
            "x:5:15: error: \":\" cannot be inside a value without quotes - put the value in quotes: \"foo: bar\""
        ),
        (
            "about", "!remind foo",
            "x:5:12: error: \"!remind foo\" is a tag to YAML, and tags are not used here - did you mean \"!remind foo\" in quotes?"
        ),
        (
            "about", "{{ user.name }}",
            "x:5:12: error: a key must be plain text; if this is a template, put the whole value in quotes"
        ),
        ("about", "a\n    about: b", "x:6:5: error: duplicate key \"about\" - it is at 5:5 already"),
        (
            "about", "\"\\d\"",
            "x:5:13: error: unknown escape behind \"\\\" in double quotes - use single quotes"
        ),
        (
            "about", "\"a\" b",
            "x:5:16: error: the value goes on behind its closing quote - put all of it into one pair of quotes"
        ),
        ("about", "%a", "x:5:12: error: \"%\" cannot begin a value - put the value in quotes: \"%a\""),
        (
            "about", "&b c",
            "x:5:12: warning: \"&b\" names an anchor that nothing refers to - did you mean \"&b c\" in quotes?"
        ),
        ("on", "messageAdded", "x:5:5: error: unknown key \"on\" - did you mean \"when\"?"),
        (
            "<<", "{about: b}",
            "x:5:5: error: \"<<\" is not supported - write the keys out, or share values by lists, vars and groups"
        ),
        (
            "cooldown", "22:00 per user",
            "x:5:15: error: \"22:00\" has no unit - use ms, s, m, h, d or w"
        ),
        ("was", "012", ""),
    ])
    func `what YAML would misread is named, with the way out`(
        _ key: String, _ value: String, _ expected: String
    ) {
        let found = findings(value, key: key)
        if expected.isEmpty { #expect(found == []) } else { #expect(found.contains(expected), "\(found)") }
    }

    /// The line has brackets; below it stands another mistake, which must be shown, too.
    @Test(arguments: [
        (
            "do: [{send: {text: hi, to: #lobby}}]",
            [
                "6:32: error: \"#\" begins a comment here, and the bracket behind it is part of that - put the value in quotes: \"#lobby\""
            ]
        ),
        (
            "do: [{send: {text: hi #5, to: lobby}}]",
            [
                "6:27: error: \"#\" begins a comment here, and the bracket behind it is part of that - put the value in quotes: \"hi #5\""
            ]
        ),
        (
            "if: {text: [a, see #5, c]}",
            [
                "6:24: error: \"#\" begins a comment here, and the bracket behind it is part of that - put the value in quotes: \"see #5\""
            ]
        ),
        (
            "if: {text: [a,\n      see #5]}",
            [
                "7:11: error: \"#\" begins a comment here, and the bracket behind it is part of that - put the value in quotes: \"see #5\""
            ]
        ),
        (
            "do: [{reply: {text: foo: bar, to: #lobby}}]",
            [
                "6:28: error: \":\" cannot be inside a value without quotes - put the value in quotes: \"foo: bar\"",
                "6:39: error: \"#\" begins a comment here, and the bracket behind it is part of that - put the value in quotes: \"#lobby\"",
            ]
        ),
        (
            "if: {text: [a, foo: bar: x]}",
            [
                "6:28: error: \":\" cannot be inside a value without quotes - put the value in quotes: \"bar: x\""
            ]
        ),
        (
            "if: {text: [a # one, and\n      b]}",
            ["7:7: error: the list in \"[ ]\" is not closed, or a comma is missing - it begins at 6:16"]
        ),
        (
            "if: {text: [a, b}",
            ["6:21: error: the list in \"[ ]\" is not closed, or a comma is missing - it begins at 6:16"]
        ),
    ])
    func `text in brackets that YAML cuts in two is named, with quotes around it`(
        _ line: String, _ expected: [String]
    ) {
        let action = line.hasPrefix("do") ? "    about: x\n" : "    do: [stop]\n"
        let text =
            "version: 1\nrules:\n  a:\n    when: messageAdded\n\(action)    \(line)\n  b: {whem: messageAdded}\n"
        let found = RuleSet.load([BotSource(name: "x", bytes: Array(text.utf8))]).errors.map(\.description)
        #expect(expected.allSatisfy { found.contains("x:\($0)") }, "\(found)")
        let goesOn = found.contains { $0.contains("unknown key \"whem\"") }
        #expect(goesOn == !expected[0].contains("not closed"), "\(found)")
        let last = "version: 1\nrules:\n  a:\n    when: messageAdded\n\(action)    \(line)\n"
        let errors = RuleSet.load([BotSource(name: "x", bytes: Array(last.utf8))]).errors.map(\.description)
        #expect(expected.allSatisfy { errors.contains("x:\($0)") }, "\(errors)")
        #expect(!errors.contains { $0.contains("xxx") })
    }

    private func errors(_ text: String) -> [String] {
        RuleSet.load([BotSource(name: "x", bytes: Array(text.utf8))], directory: Scene.directory()).errors
            .map(
                \.description)
    }

    @Test(arguments: [
        "yes", "no", "on", "off", "y", "n", "Yes", "TRUE", "True", "1", "0", "\"true\"", "~", "null",
    ])
    func `a key for true or false takes these two words only`(_ written: String) {
        let answer = "version: 1\nrules: {a: {when: messageAdded, also: \(written), do: [{reply: hi}]}}"
        let user =
            "version: 1\nrules: {a: {when: messageAdded, if: {user: {bot: \(written)}}, do: [{reply: hi}]}}"
        let exempt =
            "version: 1\nrules: {a: {when: messageDeleted, exempt: {bots: \(written)}, do: [{warn: hi}]}}"
        for file in [answer, user, exempt] {
            #expect(errors(file).count == 1)
            #expect(errors(file).first?.contains("is not a true/false") == true, "\(errors(file))")
        }
    }

    @Test(arguments: ["no", "on", "off", "yes", "null", "012", "0x10", "1_000", "1e3", "2026-01-05", "true"])
    func `a name is the text that was written, as a key too`(_ name: String) throws {
        let scene = try Scene(
            """
            version: 1
            vars: {\(name): value}
            groups: {\(name): {pick: first}}
            counters: {\(name): {per: user, keep: forever}}
            rules:
              \(name): {when: messageAdded, group: \(name), if: {text: [\(name)]}, do: [{reply: "{{ vars.\(name) }}"}, {count: {\(name): +1}}]}
            """)
        #expect(scene.rules.ruleNames == [name])
        #expect(scene.say("it is \(name)") == ["reply general: value"])
    }

    @Test(arguments: ["between: 22:00-07:00", "between: \"22:00-07:00\""])
    func `a time of day needs no quotes`(_ between: String) throws {
        let scene = try Scene(
            """
            version: 1
            windows: {night: {\(between), zone: UTC}}
            rules: {a: {when: messageAdded, if: {time: night}, do: [{reply: night}]}}
            """)
        // 28 May 2026, 20:26 UTC
        #expect(scene.say("x") == [])
        scene.now = scene.now + .seconds(2 * 3600)
        #expect(scene.say("x") == ["reply general: night"])
    }

    @Test(arguments: ["012", "0x10", "1_000", "-5", "5.0", "1e3", "٣", "5 ", "\"5\""])
    func `a number is decimal digits, and nothing else is guessed to be one`(_ written: String) {
        let found = errors(
            "version: 1\nrules: {a: {when: messageAdded, if: {text: {near: {any: [password], edits: \(written)}}}, do: [{reply: a}]}}"
        )
        let isPlain = ["5 ", "\"5\""].contains(written)
        #expect(found.isEmpty == isPlain, "\(found)")
    }

    @Test(arguments: [
        "version: 1\nversion: 1\nrules: {a: {when: messageAdded, do: [{reply: x}]}}",
        "version: 1\nrules:\n  a: {when: messageAdded, do: [{reply: x}]}\n  a: {when: memberJoined, do: [{send: x}]}",
        "version: 1\nrules:\n  a: {when: messageAdded, do: [{reply: x}]}\n  \"a\": {when: memberJoined, do: [{send: x}]}",
        "version: 1\nrules:\n  'a': {when: messageAdded, do: [{reply: x}]}\n  ? a\n  : {when: memberJoined, do: [{send: x}]}",
        "version: 1\nrules: {a: {when: messageAdded, if: {text: b}, if: {text: c}, do: [{reply: x}]}}",
        "version: 1\nrules: {a: {when: messageAdded, if: {text: {has_any: b, has_any: c}}, do: [{reply: x}]}}",
        "version: 1\nrules: {a: {when: messageAdded, do: [{reply: {text: a, text: b}}]}}",
        "version: 1\nrules: {a: {when: messageAdded, do: [{reply: a}]}}\nrules: {b: {when: messageAdded, do: [{reply: a}]}}",
        "version: 1\nvars: {a: b, a: c}\nrules: {a: {when: messageAdded, do: [{reply: \"{{ vars.a }}\"}]}}",
        "version: 1\nlists: {a: [b], a: [c]}\nrules: {a: {when: messageAdded, if: {text: $a}, do: [{reply: x}]}}",
        "version: 1\nrules: {a: {when: messageAdded, if: {text: a}, do: [{reply: x}], tests: [{name: a, name: b, steps: [{say: a}]}]}}",
    ])
    func `of two equal keys none wins, wherever they stand and however they are quoted`(_ file: String) {
        let errors = errors(file)
        #expect(
            errors.contains { $0.contains(": error: duplicate key \"") && $0.hasSuffix(" already") },
            "\(errors)")
    }

    @Test func `a comma within a short form is two keys to YAML, and the second is named`() {
        let found = errors(
            """
            version: 1
            rules:
              a:
                when: {command: {name: raid, args: {state: choice(start, stop)}}}
                do: [{reply: hi}]
            """)
        #expect(found.contains { $0.hasPrefix("x:4:") && $0.contains("stop)") }, "\(found)")
    }

    @Test func `an alias stands for its anchor within the file`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              a: {when: messageAdded, if: {text: &words [x1, x2]}, do: [{reply: hi}]}
              b: {when: memberUpdated, if: {text: {has_any: *words, fields: user.name}}, do: [{send: bye}]}
            """)
        #expect(scene.say("x2") == ["reply general: hi"])
        #expect(
            scene.take(scene.event(.memberUpdated(scene.member("x1")), in: scene.channel("general"))) == [
                "send general: bye"
            ])
    }
}
