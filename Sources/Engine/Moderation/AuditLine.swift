package import Chat

/// One line of the audit log: something of moderation was asked, done, or failed.
package struct AuditLine: Sendable, Codable, Equatable {
    package var at: Timestamp
    package var state: State
    /// As rules call it, or `strike`, `undo`, `forget`.
    package var action: String
    /// The rule or plugin; for what a person asked of steward itself, that person.
    package var by: String
    package var cases: [String]?
    package var account: String?
    package var channel: String?
    /// The channel's unique name or title, as far as it has one.
    package var channelName: String?
    package var user: String?
    package var message: String?
    /// The event that it came of.
    package var event: String?
    /// Why it failed, or what came of it.
    package var why: String?

    /// Stands where a user was who is not to be remembered.
    package static let forgotten = "(forgotten)"

    package enum State: String, Sendable, Codable { case asked, done, failed }

    package init(
        at: Timestamp, state: State, action: String, by: String, cases: [String]? = nil, user: String? = nil,
        why: String? = nil
    ) {
        self.at = at
        self.state = state
        self.action = action
        self.by = by
        self.cases = cases
        self.user = user
        self.why = why
    }

    init(_ open: OpenAction, _ state: State, at: Timestamp, why: String? = nil) {
        let action = open.action
        self.init(
            at: at, state: state, action: action.plainWord, by: action.by, cases: open.cases,
            user: action.user ?? open.author, why: why)
        account = action.place.account
        channel = action.place.channel
        message = action.message?.id
        event = open.event
    }

    /// `number` tells lines of one moment apart.
    func change(_ number: String) -> RowChange {
        RowChange(RowKey(.audit, "\(at.milliseconds)", number), JSONRow.body(of: self))
    }
}
