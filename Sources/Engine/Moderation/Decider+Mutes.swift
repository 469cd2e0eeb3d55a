internal import Chat

// A service that knows mutes may still refuse one: somebody stands too high, or we do not stand high enough any more.
extension Decider {
    /// A mute that was refused is steward's own from now on, where it may delete what they write; then it is done.
    /// Staff are told in any case.
    func standIn(for open: OpenAction, _ outcome: ActionOutcome) async throws -> ActionOutcome {
        guard case .failed(let why) = outcome, open.settled == nil,
            case .mute(let user, _, _) = open.action.verb
        else { return outcome }
        let place = open.action.place
        let realm = realms[place.account] ?? parts.identities.realm(open.realm)
        var channel = realm.channel(place.channel)
        if case .text(let id)? = try await remembered(Moderation.nameKey(place)) {
            channel = realm.channel(id)
        }
        let key = Punishment.key(.mute, of: realm.user(user), in: channel)
        // It may be over, or lifted, by now.
        guard let held = Punishment(try await remembered(key)), !held.isOver(at: parts.time.now),
            held.isNative
        else { return outcome }
        let service = services[place.account]
        let deletes =
            service?.abilities.actions.contains("delete") == true
            && service?.denied(in: channel).contains("delete") == false
        if deletes { deleteInstead(held, open, key) }
        try await tellUnmuted(open, by: held.by, why, deletes: deletes)
        return deletes ? .done(Receipt(channel: place.channel)) : outcome
    }

    private func deleteInstead(_ held: Punishment, _ open: OpenAction, _ key: MemoryKey) {
        var all = held.all
        // Of one that was renewed for who came back, the service has none left.
        let isOne = all.contains { $0.by == open.action.by && $0.event == open.event }
        for index in all.indices
        where !isOne || all[index].by == open.action.by && all[index].event == open.event {
            all[index].isByDeleting = true
        }
        let now = parts.time.now
        guard let new = Punishment(all, at: now) else { return }
        // It was just read, so it is at hand.
        _ = turn.memory.apply([.set(key, new.value, keep: Punishments.keep(new, from: now))])
        parts.log.info(
            "\(held.by): what \(open.action.user ?? "") writes in \(open.action.place) is deleted instead")
    }

    private func tellUnmuted(
        _ open: OpenAction, by rule: String, _ why: String, deletes: Bool
    ) async throws {
        guard !turn.handlers.handlers(resuming: Undeleted.owner).isEmpty else { return }
        let name = open.cases?.first
        var person = open.action.user ?? ""
        if let name, let found = try await storedCase(name), found.user == person { person = found.userName }
        var continuation = Undeleted.continuation(
            by: rule, why: why, in: open.action.place, of: person, deletes: deletes, inCase: name,
            reportTo: parts.settings.limits.reportTo)
        continuation.event = open.event
        continuation.realm = open.realm
        try await take(resumed(continuation, .failed(why), named: "\(open.key.text)/unmuted"))
    }

    private func remembered(_ key: MemoryKey) async throws -> MemoryValue? {
        var value = turn.memory.value(of: key)
        while turn.memory.hasMissing {
            try await load()
            value = turn.memory.value(of: key)
        }
        return value
    }
}
