internal import FoundationEssentials
internal import JSON
internal import Rules

/// `steward diff`: what changed between two sets of rules, in meaning.
enum DiffCommand {
    static let command = Command(
        name: "diff", summary: "show what changed in meaning between two sets of rules",
        details: """
            Compares two rules files, or two folders of them, by what they mean: rules that were added, removed, renamed \
            (with "was") or put in another order, and what changed in each. Layout, comments and quotes make no \
            difference. Ends with 0 when both mean the same, with 1 when not, and with 78 when a file has mistakes.
            """,
        options: [.init(name: "json", value: nil, summary: "for programs")],
        operands: .init(names: "OLD NEW", count: 2...2)
    ) { arguments in
        let comparison: BotComparison
        do {
            comparison = try BotComparison(
                from: try side(arguments.operands[0]), to: try side(arguments.operands[1]))
        } catch let error as BotsError {
            Terminal.complain(error.description)
            return .configuration
        } catch let error as BotComparisonError {
            Terminal.complain(error.findings.map { $0.report + "\n" }.joined())
            return .configuration
        } catch {
            Terminal.complain("steward diff: \(error)\n")
            return .configuration
        }
        if arguments.has("json") {
            print(String(decoding: JSON.array(comparison.changes.map(json)).bytes(), as: UTF8.self))
        } else {
            print(comparison.changes.map { "\($0)\n" }.joined(), terminator: "")
        }
        return comparison.changes.isEmpty ? .fine : .findings
    }

    private static func side(_ path: String) throws(BotsError) -> BotComparison.Side {
        var isFolder: Bool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw BotsError(unreadable: path, "there is no such file or folder")
        }
        let slash = path.lastIndex(of: "/")
        let folder = isFolder ? path : slash.map { String(path[..<$0]) } ?? "."
        return BotComparison.Side(files: try Bots.sources(isFolder ? try Bots.files(in: path) : [path])) {
            list in
            (try? Data(contentsOf: URL(filePath: "\(folder)/\(list)"))).map(Array.init)
        }
    }

    private static func json(_ change: BotChange) -> JSON {
        [
            "kind": .string(change.kind.rawValue), "what": .string(change.what), "name": .string(change.name),
            "was": text(change.was), "detail": text(change.detail),
            "changes": .array(
                change.differences.map { difference in
                    [
                        "key": .string(difference.key), "old": text(difference.old),
                        "new": text(difference.new),
                        "added": .array(difference.added.map { .string($0) }),
                        "removed": .array(difference.removed.map { .string($0) }),
                    ]
                }),
        ]
    }

    private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}
