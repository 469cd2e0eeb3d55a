internal import Chat
package import Rules

/// Why a test does not hold: what was expected beside what was done.
package struct BotTestFailure: Sendable, CustomStringConvertible {
    package let test: BotTest
    /// Counted from 1.
    package let step: Int
    /// The time of the test.
    package let at: Duration
    package let place: BotTest.Place
    package let problem: String
    let rows: [Comparison.Row]
    /// What the log would have said.
    package let notes: [String]

    /// One line, such as `bots/01-welcome.yaml:31:15: error: test "two arrivals" of "welcome", step 3 after 21s: …`.
    package var description: String {
        let owner = test.rule.map { " of \"\($0)\"" } ?? ""
        return "\(place): error: test \"\(test.name)\"\(owner), step \(step) after \(at.short): \(problem)"
    }

    /// The line, and below it both sides in 80 columns.
    package var report: String {
        var lines = [description]
        if !rows.isEmpty {
            lines.append(Self.line("  expected", "  done"))
            let rule = String(repeating: "─", count: Self.width + 1)
            lines.append("\(rule)┼\(rule)")
        }
        for row in rows {
            let left = row.expected.map {
                Columns.wrapped((row.holds ? "✓ " : "✗ ") + $0, to: Self.width, indent: 2)
            }
            let right = row.actual.map {
                Columns.wrapped((row.holds ? "✓ " : "✗ ") + $0, to: Self.width, indent: 2)
            }
            let sides = (
                left ?? [row.actual == nil ? "" : "  nothing"],
                right ?? [row.expected == nil ? "" : "  nothing"]
            )
            for index in 0..<max(sides.0.count, sides.1.count) {
                lines.append(
                    Self.line(
                        index < sides.0.count ? sides.0[index] : "",
                        index < sides.1.count ? sides.1[index] : ""))
            }
        }
        for note in notes { lines += Columns.wrapped("  note: \(note)", to: 80, indent: 8) }
        return lines.joined(separator: "\n")
    }

    private static let width = 38

    private static func line(_ left: String, _ right: String, _ border: String = "│") -> String {
        let line = Columns.padded(left, to: width) + " \(border) " + right
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
