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
        ("when: messageAdded\n    <<", "{about: b}", ""),
    ])
    func `what YAML would misread is named, with the way out`(
        _ key: String, _ value: String, _ expected: String
    ) {
        let found = findings(value, key: key)
        if expected.isEmpty { #expect(!found.isEmpty) } else { #expect(found.contains(expected)) }
    }
}
