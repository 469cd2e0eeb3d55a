import Foundation
import Seeds
import Testing
import YAML

@testable import Rules

@Suite struct FormatterTests {
    private func formatted(_ text: String) -> String {
        guard
            case .formatted(let bytes) = BotFormatter.format(
                BotSource(name: "x.yaml", bytes: Array(text.utf8)))
        else { return "broken" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a file is laid out in one way, and every comment stays with what it is about`() {
        let text = """
            # What this bot is for.


            version: 1   
            vars:
                hours: 09:00
                # The answer.
                off: no
            rules:
              # Greets.
              hello:
                  # Says it.
                  do:
                  -   reply:
                        text: |
                              Hello
                                there
                  when:   messageAdded # always

                  if:
                    text:
                      regex: "\\\\bhi\\\\b"
                  about: Greets
              bye: {when: memberLeft, do: [{send: bye}]}
              late: {when: memberLeft, do: [{send: "22:00"}]}
              # The end.
            """
        #expect(
            formatted(text) == """
                # What this bot is for.

                version: 1

                vars:
                  hours: "09:00"
                  # The answer.
                  "off": "no"

                rules:
                  # Greets.
                  hello:
                    about: Greets
                    when:   messageAdded # always

                    if:
                      text:
                        regex: '\\bhi\\b'
                    # Says it.
                    do:
                      - reply:
                          text: |
                            Hello
                              there

                  bye: {when: memberLeft, do: [{send: bye}]}
                  late: {when: memberLeft, do: [{send: "22:00"}]}
                  # The end.

                """)
    }

    @Test func `the last comment of a list or a mapping stays in it`() {
        let text = """
            version: 1
            rules:
              a:
                do:
                  - reply:
                      text: hi
                  # To be done here, too.
                when: messageAdded
                if:
                  text: hi
                  # No other words.
              b:
                when: messageAdded
                do:
                - reply: hi
                  # So short?
                # The last of b.
              # About c.
              c: {when: messageAdded, do: [{reply: hi}]}
            """
        let once = formatted(text)
        #expect(
            once == """
                version: 1

                rules:
                  a:
                    when: messageAdded
                    if:
                      text: hi
                      # No other words.
                    do:
                      - reply:
                          text: hi
                      # To be done here, too.

                  b:
                    when: messageAdded
                    do:
                      - reply: hi
                        # So short?
                      # The last of b.

                  # About c.
                  c: {when: messageAdded, do: [{reply: hi}]}

                """)
        #expect(formatted(once) == once)
    }

    @Test(arguments: [
        "no", "Yes", "on", "OFF", "y", "n", "null", "~", "22:00", "1:30:15", "012", "0x1F", "0o17", "0b11",
        "1_000",
        "2026-01-05", "2026-01-05T10:00:00Z", ".inf", ".NaN", "=", "-012",
    ])
    func `what other YAML readers take for something else gets quotes`(_ text: String) {
        #expect(Requoting.isTrap(text))
    }

    @Test(arguments: [
        "word", "5", "5m per user", "true", "false", "100", "1.5", "lobby", "3 in 1d per user", "80%+",
        "nobody",
        "onward", "a:b", "2 to 5", "0",
    ])
    func `plain text and plain numbers keep their looks`(_ text: String) {
        #expect(!Requoting.isTrap(text))
    }

    @Test func `a file with mistakes is not touched`() {
        #expect(formatted("version: 1\nrules:\n  a: {wen: messageAdded}\n") == "broken")
    }

    @Test func `an alias keeps its anchor before it`() {
        let text = """
            version: 1
            rules:
              a:
                do: &say
                  - reply: hi
                when: messageAdded
              b:
                do: *say
                when: messageAdded
                if: {text: hi}

            """
        let once = formatted(text)
        #expect(once.contains("  b:\n    when: messageAdded\n    if: {text: hi}\n    do: *say\n"))
        #expect(
            FileLayout(Array(once.utf8)).map(Meaning.init) == FileLayout(Array(text.utf8)).map(Meaning.init))
    }

    @Test(.timeLimit(.minutes(5)))
    func `no random file says anything else after formatting, and formatting twice is formatting once`()
        throws
    {
        var random = SeededRandom(seed: 3)
        for _ in 0..<150 {
            let text = RandomFile.text(&random)
            let bytes = Array(text.utf8)
            guard let before = FileLayout(bytes) else { continue }
            let after = BotFormatter.layout(bytes)
            let layout = try #require(FileLayout(after), "\(text)")
            #expect(Meaning(layout) == Meaning(before), "\(text)")
            #expect(
                String(decoding: BotFormatter.layout(after), as: UTF8.self)
                    == String(decoding: after, as: UTF8.self),
                "\(text)")
        }
    }

    @Test func `the bots that come with steward are formatted`() throws {
        let folder = fixtures.appending(path: "../../../bots")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path())
        where name.hasSuffix(".yaml") {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(formatted(text) == text, "\(name)")
        }
    }
}

/// Files that are YAML, in every style that people and programs write, with comments anywhere.
enum RandomFile {
    static func text(_ random: inout SeededRandom) -> String {
        var lines: [String] = []
        comments(&lines, 0, &random)
        lines.append("version: 1")
        for key in ["vars", "rules"] {
            comments(&lines, 0, &random)
            lines.append("\(key):" + comment(&random))
            let step = Int.random(in: 1...4, using: &random)
            mapping(&lines, step, depth: 3, &random)
        }
        return lines.joined(separator: Bool.random(using: &random) ? "\n" : "\r\n")
    }

    private static let keys = [
        "about", "when", "do", "if", "in", "text", "regex", "on", "x1", "\"q\"", "cooldown", "y",
    ]
    private static let scalars = [
        "word", "two words", "22:00", "no", "true", "~", "\"a # b\"", "'it''s'", "\"\\\\bx\\\\b\"",
        "\"a\\nb\"", "5",
        "2026-01-05", "x#y", "\"{{ user.name }}\"", "012", "", "'true'", "über", "\"\\u200B\"", "a'b",
        "C:\\x",
    ]

    private static func comment(_ random: inout SeededRandom) -> String {
        Int.random(in: 0..<6, using: &random) == 0 ? "  # why \(Int.random(in: 0..<99, using: &random))" : ""
    }

    private static func comments(_ lines: inout [String], _ indent: Int, _ random: inout SeededRandom) {
        for _ in 0..<max(0, Int.random(in: -4...2, using: &random)) {
            lines.append(
                Bool.random(using: &random)
                    ? ""
                    : String(repeating: " ", count: indent)
                        + "# note \(Int.random(in: 0..<99, using: &random))")
        }
    }

    private static func mapping(
        _ lines: inout [String], _ indent: Int, depth: Int, _ random: inout SeededRandom
    ) {
        var left = keys.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
        if Int.random(in: 0..<3, using: &random) == 0 { left = keys.shuffled(using: &random).prefix(1) }
        for key in left {
            comments(&lines, indent, &random)
            value(&lines, String(repeating: " ", count: indent) + key + ":", indent, depth, &random)
        }
    }

    private static func value(
        _ lines: inout [String], _ start: String, _ indent: Int, _ depth: Int, _ random: inout SeededRandom
    ) {
        let pad = String(repeating: " ", count: indent + Int.random(in: 1...3, using: &random))
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: lines.append(start + " [a, \(scalar(&random)), {b: 'c'}]" + comment(&random))
        case 1:
            lines.append(start + " {a: b, c: [\(scalar(&random))," + comment(&random))
            lines.append(pad + "d]}" + comment(&random))
        case 2:
            let head = ["|", ">-", "|+", ">", "|2", "|-"].randomElement(using: &random) ?? "|"
            let inner = head == "|2" ? String(repeating: " ", count: indent + 2) : pad
            lines.append(start + " " + head + comment(&random))
            for text in ["text # no comment", "  more", "", "last: line"].shuffled(using: &random).prefix(3)
            where !(text == "  more") || lines.last?.hasSuffix(" " + head) != true {
                lines.append(text.isEmpty ? "" : inner + text)
            }
            if lines.last?.hasSuffix(head) == true { lines.append(inner + "end") }
        case 3:
            lines.append(start + " \"goes # on")
            lines.append(pad + "here\\")
            lines.append(pad + "  \\ and \"" + comment(&random))
        case 4:
            lines.append(start + " plain and")
            lines.append(pad + "plain" + comment(&random))
        case 5: lines.append(start + " " + scalar(&random) + comment(&random))
        case 6, 7:
            lines.append(start + comment(&random))
            mapping(&lines, indent + Int.random(in: 1...4, using: &random), depth: depth - 1, &random)
        default:
            lines.append(start + comment(&random))
            let dash = indent + Int.random(in: 0...3, using: &random)
            for _ in 0..<Int.random(in: 1...3, using: &random) { item(&lines, dash, depth - 1, &random) }
        }
    }

    private static func item(_ lines: inout [String], _ dash: Int, _ depth: Int, _ random: inout SeededRandom)
    {
        comments(&lines, dash, &random)
        let gap = String(repeating: " ", count: Int.random(in: 1...3, using: &random))
        let start = String(repeating: " ", count: dash) + "-" + gap
        switch Int.random(in: 0..<3, using: &random) {
        case 0: lines.append(start + scalar(&random) + comment(&random))
        case 1:
            value(&lines, start + "key:", dash + 1 + gap.count, depth, &random)
            if Bool.random(using: &random) {
                value(
                    &lines, String(repeating: " ", count: dash + 1 + gap.count) + "other:",
                    dash + 1 + gap.count,
                    depth, &random)
            }
        default: lines.append(start + "[x, y]")
        }
    }

    private static func scalar(_ random: inout SeededRandom) -> String {
        let text = scalars.randomElement(using: &random) ?? ""
        return text == "" ? "e" : text
    }
}
