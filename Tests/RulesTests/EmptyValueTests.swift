import Chat
import Testing

@testable import Rules

/// An emptied list or a missing value is a mistake, never "everybody" and never "everything".
@Suite struct EmptyValues {
    private func errors(_ file: String, lists: [String: String] = [:]) -> [String] {
        RuleSet.load([BotSource(name: "x", bytes: Array(file.utf8))], directory: Scene.directory()) {
            lists[$0].map { Array($0.utf8) }
        }.errors.map(\.description)
    }

    private func errors(ruleWith line: String) -> [String] {
        errors(
            "version: 1\nrules:\n  it:\n    when: [messageAdded, messageEdited]\n    do: [delete]\n    \(line)\n"
        )
    }

    @Test(arguments: [
        "if:", "if: {}", "if: []", "if: ''", "if: {any: []}", "if: {all: []}", "if: {not: {}}",
        "if: {not: []}",
        "if: {any: [{}]}", "if: [{}]", "if: {text: }", "if: {text: {}}", "if: {text: []}", "if: {text: ''}",
        "if: {text: ['']}", "if: {text: [a, '']}", "if: {text: '  '}", "if: {text: '*'}", "if: {text: '**'}",
        "if: {text: \"\\u200b\"}", "if: {text: {has_any: }}", "if: {text: {has_any: []}}",
        "if: {text: {has_all: []}}", "if: {text: {has_none: []}}", "if: {text: {equals: []}}",
        "if: {text: {starts_with: []}}", "if: {text: {starts_with: ''}}", "if: {text: {ends_with: []}}",
        "if: {text: {regex: []}}", "if: {text: {regex: ''}}", "if: {text: {regex: [a, '']}}",
        "if: {text: {near: {}}}", "if: {text: {near: {any: []}}}",
        "if: {text: {near: {any: [''], edits: 1}}}",
        "if: {text: {has_any: a, fields: []}}", "if: {text: {has_any: a, skip: []}}",
        "if: {text: {match: word}}", "if: {text: {fold: loose}}", "if: {text: {skip: none}}",
        "if: {user: }", "if: {user: {}}", "if: {user: {role: []}}", "if: {user: {role: ''}}",
        "if: {user: {role: {}}}", "if: {user: {id: []}}", "if: {user: {name: []}}", "if: {user: {name: {}}}",
        "if: {links: }", "if: {links: {}}", "if: {links: {hosts_in: []}}", "if: {links: {hosts_not_in: []}}",
        "if: {links: {hosts_in: ['']}}", "if: {mentions: {}}", "if: {caps: {}}",
        "if: {length: }", "if: {time: }", "if: {time: {}}", "if: {time: {any: []}}", "if: {check: {}}",
        "if: {check: {value: '{{ user.name }}'}}", "if: {check: {value: '{{ user.name }}', is: []}}",
        "in: []", "in: ''", "in:", "not_in: []", "exempt: {}", "exempt: {roles: []}", "exempt: {users: []}",
        "exempt: []", "exempt:", "cooldown: ''", "once: ''",
    ])
    func `an empty value in a rule is an error`(_ line: String) {
        let errors = errors(ruleWith: line)
        #expect(!errors.isEmpty)
        for error in errors { #expect(error.hasPrefix("x:6:")) }
    }

    @Test(arguments: ["when: []", "when: {}", "when: ''", "when:", "do: []", "do: {}", "do: ''", "do:"])
    func `a rule without an event or an action is an error`(_ line: String) {
        let other = line.hasPrefix("when") ? "do: [delete]" : "when: messageDeleted"
        #expect(!errors("version: 1\nrules: {it: {\(other), \(line)}}\n").isEmpty)
    }

    @Test(arguments: [
        "lists: {l: []}", "lists: {l: }", "lists: {l: ''}", "lists: {l: ['']}", "lists: {l: {file: empty}}",
        "lists: {l: {file: comments}}", "lists: {l: {file: stars}}", "lists: {l: {}}",
    ])
    func `an empty list is an error, in a file too`(_ line: String) {
        for use in ["if: {text: $l}", "if: {text: {has_none: $l}}", "if: {links: {hosts_not_in: $l}}"] {
            let rule = "rules:\n  it: {when: [messageAdded, messageEdited], \(use), do: [delete]}\n"
            let errors = errors(
                "version: 1\n\(line)\n\(rule)",
                lists: ["empty": "", "comments": "# nothing\n\n   \n\u{200B}\n", "stars": "*\n"])
            #expect(!errors.isEmpty, "\(use)")
        }
    }

    @Test(arguments: [
        "defaults: {exempt: {}}", "defaults: {exempt: {roles: []}}", "defaults: {commands: {prefix: ''}}",
        "windows: {w: {}}", "windows: {w: {between: '', zone: Europe/Oslo}}", "counters: {c: {}}",
        "vars: {v: }",
    ])
    func `an empty value outside the rules is an error`(_ line: String) {
        let rule = "rules:\n  it: {when: [messageAdded, messageEdited], if: {text: x1}, do: [delete]}\n"
        #expect(!errors("version: 1\n\(line)\n\(rule)").isEmpty)
    }
}
