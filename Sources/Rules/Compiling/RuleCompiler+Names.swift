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
        } else if directory.places(named: name.value).allSatisfy(\.channel.isEmpty) {
            let names = directory.channels.keys.sorted() + directory.accounts.values.flatMap(\.joins)
            findings.error(
                "unknown channel \"\(name.value)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: names)
                    ?? "name it under channels: in config.yaml, or let an account join it",
                code: .unknownName)
        }
    }

    /// A rule needs a channel to look at.
    func checkChannels(of rule: BotRule) {
        for place in rule.places + rule.notPlaces { check(channel: place, mayBeGlob: true) }
        let hasNone =
            rule.places.isEmpty
            ? rule.notPlaces.contains { $0.value == "*" }
            : rule.places.allSatisfy { isLeftOut($0.value, by: rule.notPlaces.map(\.value)) }
        if let left = rule.notPlaces.first, hasNone {
            findings.error(
                "this rule can never run: \"not_in\" leaves none of its channels", at: left.spot,
                code: .neverRuns)
        }
        guard !directory.isEmpty else { return }
        let places =
            directory.channels.keys.flatMap(directory.places)
            + directory.accounts.flatMap { account in
                account.value.joins.map { Place(account: account.key, channel: $0) }
            }
        for glob in rule.places where glob.value.contains("*") {
            let isMet = places.contains { place in
                names(of: place).contains { Scope.matches(glob: Array(glob.value), Array($0)) }
            }
            if !isMet {
                findings.warn(
                    "no channel that config.yaml names is like \"\(glob.value)\"", at: glob.spot,
                    hint: "only one into which steward comes some day can be", code: .neverMet)
            }
        }
    }

    /// Whether what `in` names is among what `not_in` does.
    private func isLeftOut(_ name: String, by others: [String]) -> Bool {
        func isAmong(_ name: String) -> Bool {
            others.contains { other in
                other == name || other.contains("*") && Scope.matches(glob: Array(other), Array(name))
            }
        }
        if isAmong(name) { return true }
        let places = directory.places(named: name)
        return !places.isEmpty && places.allSatisfy { names(of: $0).contains(where: isAmong) }
    }

    /// By which the place may be called.
    private func names(of place: Place) -> [String] {
        let own = directory.channels.filter { $0.value[place.account] == place.channel }.keys
        return ([place.channel] + own).flatMap { [$0, "\(place.account):\($0)"] }
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
