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

extension OpenAction {
    /// As it is stored: what its coding makes of it. Answers are written by hand, for they wait for it, and what is made of
    /// types alone takes many times as long when it is seldom done.
    var body: [UInt8] {
        let (outgoing, message): (Outgoing, MessageReference?)
        switch action.verb {
        case .send(let text): (outgoing, message) = (text, nil)
        case .reply(let text, let to): (outgoing, message) = (text, to)
        default: return JSONRow.body(of: self)
        }
        guard action.then == nil, action.spares == nil, outgoing.attachments.isEmpty else {
            return JSONRow.body(of: self)
        }
        return JSONRowWriter.object { row in
            row.object("key") { $0.member("text", key.text) }
            row.object("action") { row in
                row.object("verb") { row in
                    row.object(message == nil ? "send" : "reply") { row in
                        row.object("_0") { outgoing.write(to: $0) }
                        if let message { row.object("to") { message.write(to: $0) } }
                    }
                }
                row.object("place") { row in
                    row.member("account", action.place.account)
                    row.member("channel", action.place.channel)
                }
                row.member("by", action.by)
                row.member("path", action.path)
            }
            row.member("event", event)
            row.member("realm", realm)
            row.member("since", since.milliseconds)
            row.member("order", order)
            if let cases { row.member("cases", cases) }
            if let author { row.member("author", author) }
        }
    }
}

extension Outgoing {
    fileprivate func write(to row: JSONRowWriter) {
        row.member("text", text)
        row.member("mentions", mentions)
        if let attributes { row.member("attributes", attributes) }
        row.member("attachments", [])
        row.member("inThread", inThread)
        row.member("isSilent", isSilent)
        if isSkippable { row.member("skippable", true) }
    }
}

extension MessageReference {
    fileprivate func write(to row: JSONRowWriter) {
        row.member("id", id)
        if let index { row.member("index", index) }
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
