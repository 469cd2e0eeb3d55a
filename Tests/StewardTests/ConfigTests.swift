import Chat
import Testing

@testable import steward

@Suite struct Configuration {
    func mistakes(_ text: String, environment: [String: String] = [:]) -> String {
        do {
            _ = try ConfigReader.read(Array(text.utf8), file: "config.yaml", environment: environment)
            return ""
        } catch {
            return error.mistakes.map { mistake in
                "\(mistake.place): \(mistake.problem)" + (mistake.hint.map { " - \($0)" } ?? "")
            }.joined(separator: "\n")
        }
    }

    @Test func `all mistakes of a file show at once, each at its place`() {
        let text = """
            acounts: {}
            storage: {fil: state.db}
            log: {level: loud}
            limits: {stale_after: 10y, behind: many}
            plugins:
              last-sen: {}
              last-seen: {settings: {keep: 1s, kep: 3}}
            bots:
            """
        #expect(
            mistakes(text) == """
                1:1: unknown key "acounts" - did you mean "accounts"?
                1:1: "accounts" is missing - name at least one account
                2:11: unknown key "fil" - did you mean "file"?
                3:14: "loud" is not a level - use debug, info, warning or error
                4:23: "10y" is not a duration - try "10m"
                4:36: "many" is not a whole number
                6:3: unknown plugin "last-sen" - did you mean "last-seen"?
                7:25: keep must be at least 1m
                7:36: unknown key "kep" - did you mean "keep"?
                8:6: "bots" has no value - give it one, or delete the line
                """)
    }
}

@Suite struct CommandLineWords {
    func mistake(_ words: String...) -> String? {
        guard case .mistake(let text) = CommandLineReader.read(words) else { return nil }
        return text
    }

    @Test func `an unknown command is answered with the one that was meant`() {
        #expect(
            mistake("versoin")
                == "steward: unknown command \"versoin\" - did you mean \"version\"?\nsteward --help lists the commands\n"
        )
    }

    @Test func `an option that a command does not have is refused`() {
        #expect(
            mistake("version", "--loud")
                == "steward version: unknown option \"--loud\"\nsteward version --help shows its options\n")
    }
}

@Suite struct LogLines {
    let line = Log.Line(
        level: .warning, text: "said \"no\"\nforged", fields: [("account", "twi\u{1B}[31mlio")])

    @Test func `a line for programs is one JSON object, whatever people wrote`() {
        #expect(
            LogWriter.forPrograms(line, at: Timestamp(milliseconds: 1_774_735_800_123))
                == #"{"time":"2026-03-28T22:10:00.123Z","level":"warning","text":"said \"no\"\nforged","account":"twi\u001b[31mlio"}"#
                + "\n")
    }

    @Test func `a line for people cannot move their cursor`() {
        let text = LogWriter.forPeople(line, at: Timestamp(milliseconds: 0), colours: false)
        #expect(text.hasSuffix("warning said \"no\"\n                 forged  account=twi\\u{1b}[31mlio\n"))
    }
}
