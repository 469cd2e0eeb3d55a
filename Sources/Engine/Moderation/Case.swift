package import Chat

/// Somebody was moderated: by which rule, why, and what became of it. What people wrote is not in here but in the
/// sealed `Evidence`.
package struct Case: Sendable, Codable, Equatable {
    /// Such as `C17`; counted per store.
    package var name: String
    package var at: Timestamp
    /// The rule or plugin that acted.
    package var rule: String
    package var realm: String
    package var place: Place
    /// The channel's unique name or title, as far as it has one.
    package var channelName: String?
    package var user: String
    package var userName: String
    /// Who gave the command, when one did.
    package var moderator: String?
    /// The event that it began with.
    package var event: String
    package var reason: String?
    /// How many messages it is about.
    package var messages: Int
    package var deeds: [Deed] = []
    package var strikes: [Strike] = []
    /// When the sealed texts go; nil when there are none.
    package var evidenceUntil: Timestamp?
    package var undone: Undone?

    /// One action of the case.
    package struct Deed: Sendable, Codable, Equatable {
        /// The action's key.
        package var key: String
        /// As rules call it.
        package var action: String
        package var place: Place
        package var user: String?
        package var message: MessageReference?
        /// When a mute, ban or lock ends by itself.
        package var until: Timestamp?
        package var state: State
        package var at: Timestamp
        /// Why it failed.
        package var why: String?
        /// A kick or ban that is done: whether it took out somebody who was in; nil when nobody knows.
        package var tookOut: Bool?

        package enum State: String, Sendable, Codable { case asked, done, failed }
    }

    /// A ledger that the case put something into.
    package struct Strike: Sendable, Codable, Equatable {
        /// What the ledger is called in memory.
        package var name: String
        /// How long it is remembered after a change, in milliseconds; nil for ever.
        package var keep: Int64?
        /// How many; less than 0: so many were taken back.
        package var points: Int64?
    }

    package struct Undone: Sendable, Codable, Equatable {
        package var at: Timestamp
        package var by: String
        /// What was restored, and what could not be.
        package var what: String
    }

    /// The 17 of `C17`.
    package var number: Int { Int(name.dropFirst()) ?? 0 }

    /// Some of it is not over.
    package var isOpen: Bool { deeds.contains { $0.state == .asked } }

    /// Notes what became of an action; false when it is none of the case's.
    mutating func settle(_ key: ActionKey, _ outcome: ActionOutcome, at now: Timestamp) -> Bool {
        guard let index = deeds.firstIndex(where: { $0.key == key.text }) else { return false }
        deeds[index].at = now
        switch outcome {
        case .done(let receipt):
            deeds[index].state = .done
            deeds[index].tookOut = receipt.tookOut
        case .failed(let why):
            deeds[index].state = .failed
            deeds[index].why = String(why.prefix(200))
        }
        return true
    }
}

extension Case.Deed {
    init(_ action: ChatAction, key: ActionKey, state: State, at now: Timestamp) {
        self.init(
            key: key.text, action: action.plainWord, place: action.place, user: action.user,
            message: action.message, until: action.end, state: state, at: now)
    }
}

extension ChatAction {
    /// Whom it is about.
    var user: String? {
        switch verb {
        case .direct(_, let user), .addMember(let user), .removeMember(let user), .mute(let user, _, _),
            .unmute(let user), .ban(let user, _, _), .unban(let user), .setMemberAttributes(let user, _):
            user
        default: nil
        }
    }

    /// The message that it is about.
    var message: MessageReference? {
        switch verb {
        case .deleteMessage(let message), .editMessage(let message, _), .react(_, let message),
            .setMessageAttributes(let message, _):
            message
        default: nil
        }
    }

    fileprivate var end: Timestamp? {
        switch verb {
        case .mute(_, let end, _), .ban(_, let end, _), .lock(let end, _): end
        default: nil
        }
    }

    /// A lock or slow mode: it is about everybody there, and belongs to no person's case.
    var isOfAChannel: Bool {
        switch verb {
        case .lock, .unlock, .slowMode: true
        default: false
        }
    }

    /// Whether it is done because of the charge, as one of several of the same rule.
    func concerns(_ charge: Decision.Charge) -> Bool {
        if let user { return user == charge.user.text }
        if let message { return charge.messages.contains { $0.id == message.id } }
        return true
    }
}
