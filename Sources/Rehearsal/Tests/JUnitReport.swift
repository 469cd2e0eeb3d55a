/// Results of tests in the XML that JUnit began and CI systems read.
package struct JUnitReport: Sendable {
    private var cases: [(suite: String, text: String, failed: Bool)] = []

    package init() {}

    /// `suite` is the rule or file that the test stands in.
    package mutating func add(
        _ name: String, of suite: String, took: Duration, failure: (message: String, report: String)?
    ) {
        var text = "    <testcase name=\"\(Self.escaped(name))\" classname=\"\(Self.escaped(suite))\""
        text += " time=\"\(Self.seconds(took))\""
        if let failure {
            text += ">\n      <failure message=\"\(Self.escaped(failure.message))\">"
            text += Self.escaped(failure.report) + "</failure>\n    </testcase>\n"
        } else {
            text += "/>\n"
        }
        cases.append((suite, text, failure != nil))
    }

    package var text: String {
        var suites: [String] = []
        for entry in cases where !suites.contains(entry.suite) { suites.append(entry.suite) }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites tests=\"\(cases.count)\" failures=\"\(cases.count(where: \.failed))\">\n"
        for suite in suites {
            let own = cases.filter { $0.suite == suite }
            text += "  <testsuite name=\"\(Self.escaped(suite))\" tests=\"\(own.count)\""
            text += " failures=\"\(own.count(where: \.failed))\">\n"
            text += own.map(\.text).joined() + "  </testsuite>\n"
        }
        return text + "</testsuites>\n"
    }

    private static func seconds(_ duration: Duration) -> String {
        let microseconds = duration / .microseconds(1)
        let digits = String(1_000_000 + Int64(microseconds) % 1_000_000).dropFirst()
        return "\(Int64(microseconds) / 1_000_000).\(digits)"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n": escaped += "&#10;"
            case "\t": escaped += "&#9;"
            // XML cannot have these, not even escaped.
            case _ where scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
