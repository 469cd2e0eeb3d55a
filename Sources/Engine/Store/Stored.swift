internal import Chat

/// What an earlier run left behind, as far as it is needed at once.
struct Stored: Sendable {
    var intake = Intake()
    var continuations: [String: Continuation] = [:]
    /// In the order in which they were decided.
    var actions: [OpenAction] = []
    var ledger = RuleLedger()
    var cases = CaseFile()
    /// Rows that could not be read, by table and key.
    var broken: [String] = []

    static func read(from journal: any Journal, _ identities: Identities) async throws(JournalError) -> Stored
    {
        var stored = Stored()
        stored.intake.load(
            streams: try await journal.rows(of: .stream), identities: try await journal.rows(of: .identity),
            from: identities)
        stored.ledger.load(try await journal.rows(of: .rule))
        stored.cases = CaseFile(try await journal.rows(of: .cases, keys: [CaseFile.cleanedKey]))
        for row in try await journal.rows(of: .continuation) {
            if let continuation = JSONRow.value(Continuation.self, from: row.body) {
                stored.continuations[row.key.key] = continuation
            } else {
                stored.broken.append("continuation \(row.key.key)")
            }
        }
        for row in try await journal.rows(of: .action) {
            if let open = JSONRow.value(OpenAction.self, from: row.body) {
                stored.actions.append(open)
            } else {
                stored.broken.append("action \(row.key.key)")
            }
        }
        stored.actions.sort { $0.order < $1.order }
        return stored
    }
}
