internal import Chat
internal import Glibc

/// Writes log lines to standard error: for people on a terminal, one JSON object a line otherwise.
enum LogWriter {
    static func log(level: Log.Level, environment: [String: String]) -> Log {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let colours = isTerminal && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
        let lock = Locked(())
        return Log(level: level) { line in
            let text = isTerminal ? forPeople(line, at: .now, colours: colours) : forPrograms(line, at: .now)
            let bytes = Array(text.utf8)
            // One write a line, so that lines of two threads never mix.
            lock.withLock { _ in _ = write(STDERR_FILENO, bytes, bytes.count) }
        }
    }

    /// `04:05:06 warning twilio: the connection was lost  account=twilio`
    static func forPeople(_ line: Log.Line, at moment: Timestamp, colours: Bool) -> String {
        var seconds = time_t(moment.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { twoDigits(Int($0)) }.joined(
            separator: ":")
        let level = String(describing: line.level)
        let shown = colours ? colour(line.level) + level + "\u{1B}[0m" : level
        let padding = String(repeating: " ", count: max(0, 7 - level.count))
        let fields = line.fields.map { "  \($0)=\(oneLine($1))" }.joined()
        return "\(clock) \(shown)\(padding) \(oneLine(line.text, indent: true))\(fields)\n"
    }

    static func forPrograms(_ line: Log.Line, at moment: Timestamp) -> String {
        var text = "{\"time\":\"\(utc(moment))\",\"level\":\"\(line.level)\",\"text\":\(quoted(line.text))"
        for (name, value) in line.fields { text += ",\(quoted(name)):\(quoted(value))" }
        return text + "}\n"
    }

    /// `2026-03-28T23:10:00.000Z`
    static func utc(_ moment: Timestamp) -> String {
        var seconds = time_t(moment.milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let day =
            "\(parts.tm_year + 1900)-\(twoDigits(Int(parts.tm_mon) + 1))-\(twoDigits(Int(parts.tm_mday)))"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { twoDigits(Int($0)) }.joined(
            separator: ":")
        let rest = String(1000 + moment.milliseconds % 1000).dropFirst()
        return "\(day)T\(clock).\(rest)Z"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func colour(_ level: Log.Level) -> String {
        switch level {
        case .debug: "\u{1B}[2m"
        case .info: "\u{1B}[32m"
        case .warning: "\u{1B}[33m"
        case .error: "\u{1B}[31m"
        }
    }

    /// What people wrote must not forge a line or move the cursor.
    private static func oneLine(_ text: String, indent: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += indent ? "\n                 " : "\\n"
            case _ where scalar.value < 32 || (127..<160).contains(scalar.value):
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 32 || scalar.value == 127:
                result += "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
