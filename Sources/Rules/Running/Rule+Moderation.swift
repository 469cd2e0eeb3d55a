internal import Chat
internal import Unicode

/// Actions that keep order.
extension Rule {
    /// Says, as `perform` does, whether nothing behind it is done.
    func moderate(_ step: BotStep, _ acting: inout Acting, into decision: inout Decision) -> Bool {
        switch step.verb {
        case .delete: delete(step, acting, into: &decision)
        case .strike: return !strike(step, &acting, into: &decision)
        case .mute, .kick, .ban: return !punish(step, acting, into: &decision)
        case .unmute, .unban:
            guard let member = target(step, acting) else { break }
            let user = member.user.text
            let verb = step.verb == .unmute ? ChatAction.Verb.unmute(user: user) : .unban(user: user)
            add(verb, step, acting, to: &decision)
        case .slowmode:
            if case .none? = step.deed.time {
                add(.slowMode(nil), step, acting, to: &decision)
            } else if let time = length(step, acting, &decision) {
                add(.slowMode(time), step, acting, to: &decision)
            }
        case .lock:
            guard step.deed.time == nil || length(step, acting, &decision) != nil else { break }
            let until = length(step, acting, &decision).map { acting.situation.now + $0 }
            let before = decision.actions.count
            add(.lock(until: until, reason: reason(step, acting)), step, acting, to: &decision)
            noteLocks(decision.actions[before...].map(\.place), acting, into: &decision)
        case .unlock:
            guard !acting.locked.isEmpty, step.deed.places.isEmpty else {
                add(.unlock, step, acting, to: &decision)
                break
            }
            for (number, place) in acting.locked.enumerated() {
                let path = number == 0 ? step.path : "\(step.path).in[\(number)]"
                decision.actions.append(ChatAction(.unlock, in: place, by: id, path: path))
            }
        case .permit:
            guard let name = step.deed.name?.value, let member = target(step, acting) else { break }
            let time = step.deed.time == nil ? Self.usualPermit : length(step, acting, &decision)
            guard let time else { break }
            decision.changes.append(.set(.permit(name, of: member.user), .number(1), keep: time))
        case .each: return forEach(step, acting, into: &decision)
        case .enterMode, .leaveMode: changeMode(step, acting, into: &decision)
        case .confirm: return confirm(step, acting, into: &decision)
        case .undo:
            let name = step.deed.caseName?.value(acting.values).plain.trimmed ?? ""
            if !name.isEmpty { decision.undone.append(String(name.prefix(40)).uppercased()) }
        default: changeChannel(step, acting, into: &decision)
        }
        return false
    }

    /// How long a permit lasts that does not say so.
    private static let usualPermit = Duration.seconds(600)

    // MARK: Whom

    /// Whom the action is about; nil when there is nobody.
    func target(_ step: BotStep, _ acting: Acting) -> Member? {
        guard let user = step.deed.user else { return acting.event.member }
        guard let person = user.value(acting.values).person(acting.event, acting.situation) else {
            return nil
        }
        return People.member(person, acting.event, acting.situation.memory)
    }

    /// Why somebody must not be punished; nil when they may.
    func protection(of member: Member, from step: BotStep, _ acting: Acting) -> String? {
        if member.user == acting.situation.own || member.user.text == acting.situation.own?.text {
            return "that is steward itself"
        }
        // Nothing would come of it.
        if acting.situation.directory.hasRole("owner", member, account: acting.event.account) {
            return "\(member.name) is the owner"
        }
        // Who did it themselves was looked at by the rule, unless it leaves nobody alone: then they may be warned and
        // muted, and not thrown out.
        let isNamed = step.deed.user != nil || acting.isOther
        guard isNamed || step.verb == .kick || step.verb == .ban else { return nil }
        if member.isBot, protection.bots != false, isNamed { return "\(member.name) is a program" }
        let account = acting.event.account
        if protection.users.contains(where: {
            [member.user.text, "\(account):\(member.user.text)"].contains($0.value)
        }) {
            return "\(member.name) is exempt"
        }
        let role = protection.roles.first {
            acting.situation.directory.hasRole($0.value, member, account: account)
        }
        return role.map { "\(member.name) is \($0.value)" }
    }

    /// Notes why nothing is done. Whoever called the rule is told, and nothing else is done then; says whether the rule
    /// goes on.
    func refuse(_ step: BotStep, _ why: String, _ acting: Acting, into decision: inout Decision) -> Bool {
        decision.notes.append(Decision.Note(by: id, "no \(step.verb.rawValue): \(why)"))
        guard command != nil, !step.isOfLadder else { return true }
        decision.actions += answer("That cannot be done: \(why).", acting.event, acting.situation)
        return false
    }

    /// Notes against whom the rule acts, for a case.
    func charge(
        _ user: UserID, _ acting: Acting, reason: String? = nil, messages: [MessageReference]? = nil,
        keep: Duration? = nil, _ decision: inout Decision
    ) {
        guard stage == .guard else { return }
        let own = acting.event.message.map { [MessageReference($0)] } ?? []
        let isOwn = command == nil && !acting.isOther
        let about = messages ?? (isOwn && acting.event.member?.user == user ? own : [])
        if let index = decision.charges.firstIndex(where: { $0.by == id && $0.user == user }) {
            if decision.charges[index].reason == nil { decision.charges[index].reason = reason }
            decision.charges[index].messages = (decision.charges[index].messages + about).unique
            decision.charges[index].keep = [decision.charges[index].keep, keep].compactMap(\.self).max()
        } else {
            decision.charges.append(
                Decision.Charge(
                    by: id, user: user, fragment: isOwn ? acting.fragment() : nil, reason: reason,
                    messages: about, keep: keep, moderator: command == nil ? nil : acting.event.member?.user))
        }
    }

    // MARK: What, where, for how long

    /// Says whether the rule goes on.
    private func punish(_ step: BotStep, _ acting: Acting, into decision: inout Decision) -> Bool {
        guard let member = target(step, acting) else {
            return refuse(step, "nobody goes by that name", acting, into: &decision)
        }
        if let why = protection(of: member, from: step, acting) {
            return refuse(step, why, acting, into: &decision)
        }
        var until: Timestamp?
        if step.deed.time != nil {
            guard let time = length(step, acting, &decision) else { return true }
            until = acting.situation.now + time
        }
        let (user, reason) = (member.user.text, reason(step, acting))
        switch step.verb {
        case .mute: add(.mute(user: user, until: until, reason: reason), step, acting, to: &decision)
        case .ban: add(.ban(user: user, until: until, reason: reason), step, acting, to: &decision)
        default: add(.removeMember(user: user), step, acting, to: &decision)
        }
        if step.verb != .mute {
            decision.changes.append(.set(.removal(of: member.user), .number(1), keep: .seconds(60)))
        }
        charge(member.user, acting, reason: reason, &decision)
        tellOfStranger(member, step, acting, &decision)
        return true
    }

    /// Whoever gave the command may have mistyped a name; it is done all the same, for people who only read are not seen.
    func tellOfStranger(
        _ member: Member, _ step: BotStep, _ acting: Acting, _ decision: inout Decision
    ) {
        guard command != nil, step.deed.user != nil, !step.isOfLadder,
            member.user != acting.event.member?.user,
            People.find(member.user.text, acting.event, acting.situation.memory) == nil
        else { return }
        let words = answer(
            "Nobody called \(member.name) was seen here so far.", acting.event, acting.situation)
        // A strike and a mute of one command are about the same name.
        let known = decision.actions
        decision.actions += words.filter { new in
            !known.contains { $0.verb == new.verb && $0.place == new.place }
        }
    }

    /// The action in each of the channels it is for.
    func add(
        _ verb: ChatAction.Verb, _ step: BotStep, _ acting: Acting, to decision: inout Decision
    ) {
        let named = step.deed.places.flatMap { acting.situation.directory.places(named: $0.value) }.unique
        let places = step.deed.places.isEmpty ? [acting.event.place].compactMap(\.self) : named
        for (number, place) in places.enumerated() {
            let path = number == 0 ? step.path : "\(step.path).in[\(number)]"
            var action = ChatAction(verb, in: place, by: id, path: path)
            switch verb {
            case .lock, .slowMode(.some): action.spares = spares
            default: break
            }
            decision.actions.append(action)
        }
    }

    func reason(_ step: BotStep, _ acting: Acting) -> String? {
        let text = step.deed.reason?.value(acting.values).plain.trimmed ?? ""
        return text.isEmpty ? nil : String(text.prefix(500))
    }

    /// Nil when it is not given, or is none; the latter is noted.
    private func length(_ step: BotStep, _ acting: Acting, _ decision: inout Decision) -> Duration? {
        switch step.deed.time {
        case .fixed(let time): return time
        case .made(let template):
            let value = template.value(acting.values)
            if case .duration(let time) = value { return time }
            if case .time(let end, _) = value, end > acting.situation.now {
                return end - acting.situation.now
            }
            if let time = try? Duration(text: value.plain.trimmed.lowercased()), time > .zero { return time }
            decision.notes.append(
                Decision.Note(
                    by: id, "no \(step.verb.rawValue): \"\(value.plain.shortened)\" is not a duration",
                    isWarning: true))
            return nil
        case nil, .some(.none): return nil
        }
    }

    private func forEach(_ step: BotStep, _ acting: Acting, into decision: inout Decision) -> Bool {
        guard let path = step.deed.list?.value, case .list(let items) = acting.values.value(of: path) else {
            return false
        }
        let steps = step.branches.first?.steps ?? []
        for item in items {
            guard let person = item.person(acting.event, acting.situation) else { continue }
            var one = acting.about(People.member(person, acting.event, acting.situation.memory))
            one.isOne = true
            if perform(steps[...], one, into: &decision) { return true }
        }
        return false
    }

    // MARK: Deleting

    private func delete(_ step: BotStep, _ acting: Acting, into decision: inout Decision) {
        if step.deed.last != nil { return deleteLast(step, acting, into: &decision) }
        let event = acting.event
        guard step.deed.isBurst, !acting.isAgain else {
            guard let place = event.place, let reference = event.reference, !acting.isOther else { return }
            decision.actions.append(
                ChatAction(.deleteMessage(reference), in: place, by: id, path: step.path))
            // Who wrote what somebody reacted to is not known here.
            if !acting.isAgain, let message = event.message {
                let keep = step.deed.keepCopy
                charge(message.author.user, acting, messages: [reference], keep: keep, &decision)
            }
            return
        }
        var entries = acting.burst.filter { !acting.isGone($0.id.text) }
        if acting.isOne || acting.isOther { entries = entries.filter { $0.user == event.member?.user } }
        var messages = entries.map {
            (MessageReference(id: $0.id.text, index: $0.index), $0.channel, $0.user)
        }
        if let message = event.message, !acting.isOne, !acting.isOther,
            !messages.contains(where: { $0.0.id == message.id })
        {
            messages.append((MessageReference(message), event.channel?.id, message.author.user))
        }
        for (reference, channel, user) in messages.reversed() {
            guard let channel = channel ?? event.channel?.id else { continue }
            let place = Place(account: event.account, channel: channel.text)
            decision.actions.append(
                ChatAction(.deleteMessage(reference), in: place, by: id, path: "\(step.path).\(reference.id)")
            )
            if let user { charge(user, acting, messages: [reference], &decision) }
        }
    }

    private func deleteLast(_ step: BotStep, _ acting: Acting, into decision: inout Decision) {
        guard let place = acting.event.place, let last = step.deed.last,
            let most = Int64(last.value(acting.values).plain.trimmed), most > 0
        else { return }
        let from = step.deed.user.map { $0.value(acting.values) }
        var user: UserID?
        if let from, !from.isEmpty {
            guard let person = from.person(acting.event, acting.situation) else { return }
            user = acting.event.realm.user(person.id)
        }
        var messages = acting.recent()[...]
        // What was written after the rule was called is not meant.
        if let own = messages.firstIndex(where: { $0.reference.id == acting.event.message?.id }) {
            messages = messages[(own + 1)...]
        }
        messages = messages.filter { user == nil || $0.user == user }[...]
        for message in messages.prefix(Int(min(most, 1000))) {
            decision.actions.append(
                ChatAction(
                    .deleteMessage(message.reference), in: place, by: id,
                    path: "\(step.path).\(message.reference.id)"))
            let keep = step.deed.keepCopy
            charge(message.user, acting, messages: [message.reference], keep: keep, &decision)
        }
    }
}

extension Acting {
    /// The same, as if somebody else had done it.
    func about(_ member: Member) -> Acting {
        var acting = self
        acting.isOther = isOther || event.member?.user != member.user
        acting.event = event.about(member)
        acting.values.event = acting.event
        return acting
    }
}

extension ChatEvent {
    fileprivate func about(_ member: Member) -> ChatEvent {
        var event = self
        switch kind {
        case .messageAdded(var message):
            message.author = member
            event.kind = .messageAdded(message)
        case .messageEdited(var message):
            message.author = member
            event.kind = .messageEdited(message)
        case .messageDeleted(var message):
            message.author = member
            event.kind = .messageDeleted(message)
        case .memberJoined: event.kind = .memberJoined(member)
        case .memberLeft: event.kind = .memberLeft(member)
        default: event.kind = .memberUpdated(member)
        }
        return event
    }
}
