import Testing

@testable import Rules

@Suite struct AllowanceTests {
    private func warnings(_ text: String) -> [String] {
        RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).findings.map {
            "\($0.line) \($0.code.rawValue)"
        }
    }

    @Test func `a comment allows a warning for its line, for what is below it, and not elsewhere`() {
        let text = """
            version: 1
            rules:
              a:
                when: messageAdded # allow: edits-unseen
                if: {text: x1}
                do: [delete]
              # Nobody edits here. allow: nothing, this is not the form
              # allow: edits-unseen, comment-after-text
              b:
                about: 5 # cents
                when: messageAdded
                if: {text: x2}
                do: [delete]
              c:
                when: messageAdded
                if: {text: x3}
                do: [delete]
            """
        #expect(warnings(text) == ["15 edits-unseen"])
    }

    @Test func `a name that no warning has is told`() {
        let findings = RuleSet.load([
            BotSource(
                name: "x.yaml",
                bytes: Array(
                    "version: 1\n# allow: edit-unseen\nrules: {a: {when: memberJoined, do: [stop]}}".utf8))
        ]).findings
        #expect(
            findings.map(\.description) == [
                "x.yaml:2:1: warning: there is no warning \"edit-unseen\" - did you mean \"edits-unseen\"?"
            ])
    }

    @Test func `a finding has a code, and ends where its word ends`() {
        let text = "version: 1\nrules: {a: {when: mesageAdded, 'cool down': x, do: [stop]}}"
        let findings = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).findings
        #expect(findings.map(\.code) == [.unknownName, .unknownName])
        #expect(findings.map { "\($0.column)-\($0.endColumn)" } == ["19-30", "32-43"])
    }
}
