internal import JSON
internal import Rehearsal
internal import Rules
internal import YAML

/// Something wrong in a file that people write, for people, editors and programs.
struct Finding {
    var file: String
    /// Counted from 1, as columns are; `endColumn` is behind the last character.
    var line: Int
    var column: Int
    var endColumn: Int
    /// `error` or `warning`.
    var severity: String
    var code: String
    var message: String
    var suggestion: String?
    /// For people: one line, and below it the source line with a caret where there is one.
    var report: String

    init(_ error: BotFileError) {
        file = error.file
        line = error.line
        column = error.column
        endColumn = error.endColumn
        severity = error.severity.rawValue
        code = error.code.rawValue
        message = error.problem
        suggestion = error.hint
        report = error.report
    }

    init(_ failure: ExampleFailure) {
        file = failure.file
        line = failure.line
        column = failure.column
        endColumn = failure.column + 1
        severity = "error"
        code = FindingCode.failedExample.rawValue
        message = failure.problem
        report = failure.description
    }

    init(_ failure: BotTestFailure) {
        file = failure.place.file
        line = failure.place.line
        column = failure.place.column
        endColumn = failure.place.column + 1
        severity = "error"
        code = FindingCode.failedTest.rawValue
        message = "test \"\(failure.test.name)\", step \(failure.step): \(failure.problem)"
        report = failure.report
    }

    init(_ mistake: ConfigError.Mistake, in error: ConfigError) {
        file = error.file
        line = mistake.place.line
        column = mistake.place.column
        endColumn = error.source?.end(at: mistake.place) ?? mistake.place.column
        severity = "error"
        code = "configuration"
        message = mistake.problem
        suggestion = mistake.hint
        report = error.report(mistake)
    }

    /// A file that cannot be read at all.
    init(file: String, problem: String, hint: String?) {
        self.file = file
        line = 1
        column = 1
        endColumn = 1
        severity = "error"
        code = "unreadable-file"
        message = problem
        suggestion = hint
        report = "\(file): error: \(problem)" + (hint.map { " - \($0)" } ?? "")
    }

    /// How findings are written for whom.
    enum Format: String, CaseIterable {
        case text, json, github
    }

    static func text(_ findings: [Finding], as format: Format) -> String {
        switch format {
        case .text: findings.map { $0.report + "\n" }.joined()
        case .json: String(decoding: JSON.array(findings.map(\.json)).bytes(), as: UTF8.self) + "\n"
        case .github: findings.map { $0.annotation + "\n" }.joined()
        }
    }

    private var json: JSON {
        [
            "file": .string(file), "line": .int(Int64(line)), "column": .int(Int64(column)),
            "endColumn": .int(Int64(endColumn)), "severity": .string(severity), "code": .string(code),
            "message": .string(message), "suggestion": suggestion.map { .string($0) } ?? .null,
        ]
    }

    /// A workflow command of GitHub's, which shows the finding beside the line.
    private var annotation: String {
        func escaped(_ text: String, inProperty: Bool = false) -> String {
            var result = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "%": result += "%25"
                case "\r": result += "%0D"
                case "\n": result += "%0A"
                case ":" where inProperty: result += "%3A"
                case "," where inProperty: result += "%2C"
                default: result.unicodeScalars.append(scalar)
                }
            }
            return result
        }
        let properties =
            "file=\(escaped(file, inProperty: true)),line=\(line),endLine=\(line),col=\(column),"
            + "endColumn=\(endColumn),title=\(escaped(code, inProperty: true))"
        return "::\(severity) \(properties)::" + escaped(message + (suggestion.map { " - \($0)" } ?? ""))
    }
}
