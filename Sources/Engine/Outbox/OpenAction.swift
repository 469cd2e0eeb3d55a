package import Chat

/// An action that was decided and not yet done; it is in the journal until its outcome is known.
package struct OpenAction: Sendable, Codable, Equatable {
    package var key: ActionKey
    package var action: ChatAction
    /// The event it answers.
    package var event: String
    package var realm: String
    /// Nothing of it can have happened before: where a look-up starts.
    package var since: Timestamp
    /// Actions of one channel go out in this order.
    package var order: Int64
    /// The cases that it is part of.
    package var cases: [String]?
    /// Who wrote the message that it is about, as far as that is known.
    package var author: String?
    /// It needs no service: steward did it by deciding it, or will not do it. Settled ones are over at once.
    package var settled: ActionOutcome?

    private enum CodingKeys: CodingKey { case key, action, event, realm, since, order, cases, author }

    package init(
        key: ActionKey, action: ChatAction, event: String, realm: String, since: Timestamp, order: Int64 = 0
    ) {
        self.key = key
        self.action = action
        self.event = event
        self.realm = realm
        self.since = since
        self.order = order
    }
}

/// What became of an action.
package enum ActionOutcome: Sendable, Equatable {
    case done(Receipt)
    /// It will not be tried again.
    case failed(String)
}

/// Something that waits for its time, under the name it has in the journal.
package struct PendingContinuation: Sendable, Equatable {
    package var key: String
    package var continuation: Continuation

    package init(key: String, continuation: Continuation) {
        self.key = key
        self.continuation = continuation
    }
}
