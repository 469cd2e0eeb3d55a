internal import Chat
internal import Matching

extension Rule {
    /// Why the rule must not act again yet; nil when it may.
    func rest(_ event: ChatEvent, _ situation: Situation) -> Verdict? {
        // Whoever comes while others are waited for belongs to them.
        let isOpen = source.batch != nil && openBatch(event, situation) != nil
        if let once = source.once, once == .user || !isOpen {
            let span = source.isOncePerWindow ? OpenSpan(windows, at: event.sentAt) : nil
            for owner in owners {
                let key = MemoryKey(owner: owner, name: onceName, subject: subject(once, event))
                guard let value = situation.memory.value(of: key) else { continue }
                if !source.isOncePerWindow || value == span.map({ .number($0.starts) }) { return .onceBefore }
            }
        }
        guard let cooldown = source.cooldown, cooldown.per == .user || !isOpen else { return nil }
        var times: [Timestamp] = []
        for owner in owners {
            let key = MemoryKey(owner: owner, name: "cooldown", subject: subject(cooldown.per, event))
            if case .times(let some) = situation.memory.value(of: key) { times += some }
        }
        let recent = times.map { $0 + cooldown.time }.filter { $0 > situation.now }.sorted()
        return recent.count >= cooldown.most ? .coolsDown(until: recent[recent.count - cooldown.most]) : nil
    }

    /// What is remembered when the rule acts. A batch notes for each user that they were taken, and all else when it
    /// is acted on.
    func claims(_ event: ChatEvent, _ situation: Situation, _ part: ClaimPart = .all) -> [MemoryChange] {
        var changes: [MemoryChange] = []
        if let once = source.once, part.includes(once) {
            let key = MemoryKey(owner: id, name: onceName, subject: subject(once, event))
            if !source.isOncePerWindow {
                changes.append(.claim(key, at: situation.now, most: 1, keep: nil))
            } else if let span = OpenSpan(windows, at: event.sentAt) {
                let left =
                    span.ends == .max
                    ? nil : max(.seconds(1), Timestamp(milliseconds: span.ends) - situation.now)
                changes.append(.set(key, .number(span.starts), keep: left))
            }
        }
        if let cooldown = source.cooldown, part.includes(cooldown.per) {
            let key = MemoryKey(owner: id, name: "cooldown", subject: subject(cooldown.per, event))
            changes.append(.claim(key, at: situation.now, most: cooldown.most, keep: cooldown.time))
        }
        return changes
    }

    private var onceName: String { source.isOncePerWindow ? "once in a window" : "once" }

    enum ClaimPart {
        case all, ofUsers, ofOthers

        func includes(_ per: Cooldown.Per) -> Bool {
            switch self {
            case .all: true
            case .ofUsers: per == .user
            case .ofOthers: per != .user
            }
        }
    }

    /// The batch that collects where the event happened, and under whose name it is kept.
    func openBatch(_ event: ChatEvent, _ situation: Situation) -> (batch: Batch, key: MemoryKey)? {
        for owner in owners {
            let key = Batch.key(owner, event)
            if let batch = Batch(situation.memory.value(of: key)) { return (batch, key) }
        }
        return nil
    }

    private func subject(_ per: Cooldown.Per, _ event: ChatEvent) -> MemoryKey.Subject {
        switch per {
        case .user: event.member.map { .user($0.user) } ?? .all
        case .channel: event.channel.map { .channel($0.id) } ?? .all
        case .rule: .all
        }
    }
}

extension ChatEvent {
    /// Under which it is remembered that the message has its answer.
    var answeredKey: MemoryKey? {
        guard let message, let channel else { return nil }
        return MemoryKey(owner: "rules", name: "answered \(message.id)", subject: .channel(channel.id))
    }

    /// Under which it is remembered that a rule has warned about the message.
    func warnedKey(by rule: String) -> MemoryKey? {
        guard let message, let channel else { return nil }
        return MemoryKey(owner: rule, name: "warned \(message.id)", subject: .channel(channel.id))
    }
}

extension Regex {
    /// What the named groups hold where the expression matches first; nil when it does not.
    func groups(in text: String) -> [String: String]? {
        guard let match = firstMatch(in: text) else { return nil }
        let bytes = Array(text.utf8)
        var groups: [String: String] = [:]
        for (name, range) in zip(groupNames, match.groups) {
            if let name, let range, groups[name] == nil {
                groups[name] = SkippedText.unmarked(String(decoding: bytes[range], as: UTF8.self))
            }
        }
        return groups
    }
}
