internal import YAML

/// What is wrong in a bot's file: the place, the problem, and what helps.
package struct BotFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Severity: String, Sendable { case error, warning }

    package var severity: Severity
    package var file: String
    /// Both counted from 1; columns are code points.
    package var line: Int
    package var column: Int
    /// Behind the last character of what it is about, as far as the line tells.
    package var endColumn: Int
    package var code: FindingCode
    package var problem: String
    package var hint: String?
    /// The source line with a caret below the place; empty when there is no such line.
    package var excerpt: String

    /// One line, such as `bots/lobby.yaml:7:15: error: unknown unit "y" in "10y" - use ms, s, m, h, d or w`.
    package var description: String {
        "\(file):\(line):\(column): \(severity.rawValue): \(problem)" + (hint.map { " - \($0)" } ?? "")
    }

    /// The description with the source line and the caret.
    package var report: String {
        excerpt.isEmpty ? description : "\(description)\n\(excerpt)"
    }
}

/// Where something stands in a bot's file.
struct Spot: Sendable, Hashable {
    var file: String
    var place: YAMLPlace
}

/// A value and where it stands.
struct Placed<Value: Sendable>: Sendable {
    var value: Value
    var spot: Spot

    init(_ value: Value, at spot: Spot) {
        self.value = value
        self.spot = spot
    }
}

/// Collects what is wrong in the files of one load.
final class Findings {
    private(set) var all: [BotFileError] = []
    private(set) var errorCount = 0
    private var sources: [String: YAMLSource] = [:]
    private var allowances: [String: Allowances] = [:]
    private var order: [String] = []
    private var said: Set<Said> = []

    private struct Said: Hashable {
        var problem: String
        var spot: Spot
    }

    func add(_ source: YAMLSource, of file: String) {
        sources[file] = source
        order.append(file)
        let allowances = Allowances(source)
        self.allowances[file] = allowances
        for unknown in allowances.unknown {
            warn(
                "there is no warning \"\(unknown.value)\"", at: Spot(file: file, place: unknown.place),
                hint: Suggestion.hint(for: unknown.value, among: FindingCode.warnings.map(\.rawValue)),
                code: .unknownName)
        }
    }

    func error(_ problem: String, at spot: Spot, hint: String? = nil, code: FindingCode = .wrongValue) {
        // A list's word is looked at wherever the list is used.
        guard said.insert(Said(problem: problem, spot: spot)).inserted else { return }
        errorCount += 1
        add(.error, problem, spot, hint, code)
    }

    /// Notes what is probably not meant, unless a comment in the file allows it.
    func warn(_ problem: String, at spot: Spot, hint: String? = nil, code: FindingCode = .style) {
        guard said.insert(Said(problem: problem, spot: spot)).inserted else { return }
        if allowances[spot.file]?.allows(code, at: spot.place.line) == true { return }
        add(.warning, problem, spot, hint, code)
    }

    private func add(
        _ severity: BotFileError.Severity, _ problem: String, _ spot: Spot, _ hint: String?,
        _ code: FindingCode
    ) {
        let source = sources[spot.file]
        all.append(
            BotFileError(
                severity: severity, file: spot.file, line: spot.place.line, column: spot.place.column,
                endColumn: source?.end(at: spot.place) ?? spot.place.column, code: code, problem: problem,
                hint: hint, excerpt: source?.excerpt(at: spot.place) ?? ""))
    }

    /// File by file in the order they were read, each by place.
    var inOrder: [BotFileError] {
        let ranks = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
        return all.enumerated().sorted { left, right in
            (ranks[left.element.file] ?? .max, left.element.line, left.element.column, left.offset)
                < (ranks[right.element.file] ?? .max, right.element.line, right.element.column, right.offset)
        }.map(\.element)
    }
}
