internal import Chat

/// Names must be declared, and only once.
extension RuleCompiler {
    func twice(_ what: String, _ name: Placed<String>, _ first: Spot) {
        findings.error(
            "\(what) \"\(name.value)\" is declared twice", at: name.spot,
            hint: "it is at \(first.file):\(first.place) already", code: .declaredTwice)
    }

    func check(channel name: Placed<String>, mayBeGlob: Bool = false) {
        if mayBeGlob, name.value == Scope.direct || name.value.contains("*") { return }
        if directory.isEmpty {
            warnOnce("channel", name)
        } else if directory.places(named: name.value).isEmpty {
            let names = directory.channels.keys.sorted() + directory.accounts.values.flatMap(\.joins)
            findings.error(
                "unknown channel \"\(name.value)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: names)
                    ?? "name it under channels: in config.yaml, or let an account join it",
                code: .unknownName)
        }
    }

    func check(testCounter name: Placed<String>, hasSubject: Bool) {
        guard let counter = counters[name.value] else {
            findings.error(
                "unknown counter \"\(name.value)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: counters.keys.sorted())
                    ?? "declare it under counters:")
            return
        }
        if hasSubject, counter.per == .all {
            findings.error(
                "\"\(name.value)\" is one number for all", at: name.spot, hint: "write \(name.value): 3")
        } else if !hasSubject, counter.per != .all {
            findings.error(
                "\"\(name.value)\" counts per \(counter.per.rawValue)", at: name.spot,
                hint: "say whose: {\(counter.per == .user ? "ana" : "lobby"): 3}")
        }
    }

    func check(role name: Placed<String>) {
        if directory.roles[name.value] != nil || Rule.rolesOfOrder.contains(name.value) { return }
        if directory.isEmpty {
            warnOnce("role", name)
        } else {
            let names = directory.roles.keys.sorted() + Rule.rolesOfOrder
            findings.error(
                "unknown role \"\(name.value)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: names) ?? "name it under roles: in config.yaml",
                code: .unknownName)
        }
    }

    func warnOnce(_ what: String, _ name: Placed<String>) {
        guard warnedNames.insert("\(what) \(name.value)").inserted else { return }
        findings.warn(
            "\(what) \"\(name.value)\" is not checked without config.yaml", at: name.spot,
            code: .uncheckedName)
    }

    func check(events rule: BotRule) {
        guard !directory.accounts.isEmpty else { return }
        let own: Set<EventName> = [.started, .serviceUp, .serviceDown]
        for event in rule.when where !own.contains(event.value) {
            let lacking = directory.accounts.filter { !$0.value.abilities.events.contains(event.value) }
            guard !lacking.isEmpty else { continue }
            let names = lacking.keys.sorted().joined(separator: ", ")
            if lacking.count == directory.accounts.count {
                findings.error("no account tells \(event.value.rawValue)", at: event.spot)
            } else {
                findings.warn(
                    "\(event.value.rawValue) is not told by \(names)", at: event.spot, code: .eventNotTold)
            }
        }
    }
}

extension Directory {
    /// Nothing is known, as when a file is checked by itself.
    var isEmpty: Bool { accounts.isEmpty && channels.isEmpty && roles.isEmpty }
}

extension EventName {
    /// A message that can be answered or removed.
    var hasMessage: Bool { hasText || hasReaction }

    var hasText: Bool { self == .messageAdded || self == .messageEdited || self == .messageDeleted }

    var hasReaction: Bool { self == .reactionAdded || self == .reactionRemoved }

    var hasPolicy: Bool { self == .policyAdded || self == .policyRemoved }

    var hasMember: Bool {
        switch self {
        case .channelAdded, .channelUpdated, .channelDeleted, .channelFrozen, .started, .serviceUp,
            .serviceDown, .policyAdded, .policyRemoved:
            false
        default: true
        }
    }

    var hasChannel: Bool {
        switch self {
        case .started, .serviceUp, .serviceDown, .policyAdded, .policyRemoved: false
        default: true
        }
    }
}
