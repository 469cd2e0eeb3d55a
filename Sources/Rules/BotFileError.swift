internal import YAML

/// What is wrong in a bot's file: the place, the problem, and what helps.
package struct BotFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Severity: String, Sendable { case error, warning }

    package var severity: Severity
    package var file: String
    /// Both counted from 1; columns are code points.
    package var line: Int
    package var column: Int
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
    private var order: [String] = []
    private var said: Set<Said> = []

    private struct Said: Hashable {
        var problem: String
        var spot: Spot
    }

    func add(_ source: YAMLSource, of file: String) {
        sources[file] = source
        order.append(file)
    }

    func error(_ problem: String, at spot: Spot, hint: String? = nil) {
        // A list's word is looked at wherever the list is used.
        guard said.insert(Said(problem: problem, spot: spot)).inserted else { return }
        errorCount += 1
        add(.error, problem, spot, hint)
    }

    func warn(_ problem: String, at spot: Spot, hint: String? = nil) {
        guard said.insert(Said(problem: problem, spot: spot)).inserted else { return }
        add(.warning, problem, spot, hint)
    }

    private func add(_ severity: BotFileError.Severity, _ problem: String, _ spot: Spot, _ hint: String?) {
        all.append(
            BotFileError(
                severity: severity, file: spot.file, line: spot.place.line, column: spot.place.column,
                problem: problem, hint: hint, excerpt: sources[spot.file]?.excerpt(at: spot.place) ?? ""))
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
