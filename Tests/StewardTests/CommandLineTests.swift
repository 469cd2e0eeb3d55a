import Chat
import ChatServer
import Engine
import Foundation
import Glibc
import Services
import Testing

@testable import steward

@Suite struct WordsForShells {
    @Test func `the word behind help is completed, and each shell gets all commands`() {
        for shell in Completion.Shell.allCases {
            let script = Completion.script(for: shell)
            for command in Command.all { #expect(script.contains(command.name), "\(shell)") }
        }
        let names = Command.all.map(\.name).joined(separator: " ")
        #expect(Completion.script(for: .bash).contains("help) words='\(names) --help'"))
    }

    @Test func `one of a thing is one of it`() {
        #expect(counted(1, "rule") == "1 rule")
        #expect(counted(0, "rule") == "0 rules")
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

    @Test func `a command to be helped with is looked up, too`() {
        #expect(
            mistake("help", "chck")
                == "steward help: unknown word \"chck\" - did you mean \"check\"?\nsteward help --help shows its options\n"
        )
        guard case .run(_, let arguments) = CommandLineReader.read(["help", "check"]) else {
            Issue.record("not understood")
            return
        }
        #expect(arguments.word == "check")
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
