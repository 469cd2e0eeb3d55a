internal import Chat
internal import Unicode

/// What a rule acts with.
struct Acting {
    var event: ChatEvent
    let situation: Situation
    var values: TemplateValues
    /// Whether the condition of a branch holds, with these values.
    var holds: (Condition, TemplateValues) -> Bool
    /// What made up the rule's rate, if its actions are about that.
    var burst: [RateEntry] = []
    /// The piece of the event's text that made the rule match.
    var fragment: () -> String? = { nil }
    /// The latest messages of the channel, the newest first.
    var recent: () -> [RecentMessage] = { [] }
    /// What it is about has been dealt with: all that is left to do is to remove the message.
    var isAgain = false
    /// It is about somebody whom a strike was for, or out of a list: not about who did it.
    var isOther = false
    /// What the cases are called that the rule has filed so far.
    var cases: [String] = []
    /// The channels that were locked in a mode that is over.
    var locked: [Place] = []
    /// It is about one out of a list.
    var isOne = false
    /// Messages that were deleted for earlier events.
    var isGone: (String) -> Bool = { _ in false }
    /// So much of what was decided is in the values.
    private var foreseen = 0

    init(
        event: ChatEvent, situation: Situation, values: TemplateValues,
        holds: @escaping (Condition, TemplateValues) -> Bool
    ) {
        self.event = event
        self.situation = situation
        self.values = values
        self.holds = holds
    }

    /// What was counted before is in what templates print and branches look at.
    mutating func foresee(_ changes: [MemoryChange]) {
        guard changes.count > foreseen else { return }
        foreseen = changes.count
        values.situation.memory = Foreseen(memory: situation.memory, changes: changes)
    }
}

/// What will be remembered once some changes are made.
private struct Foreseen: Recollection {
    let memory: any Recollection
    let changes: [MemoryChange]

    func value(of key: MemoryKey) -> MemoryValue? {
        changes.reduce(memory.value(of: key)) { value, change in
            switch change {
            case .add(key, let number, _):
                if case .number(let before)? = value { return .number(before + number) }
                return .number(number)
            case .set(key, let new, _): return new
            case .forget(key): return nil
            // Nothing prints when a rule rests.
            default: return value
            }
        }
    }

    func history(of channel: ChannelID) -> [ChatEvent] { memory.history(of: channel) }
}

extension Rule {
    /// Adds the rule's actions to a decision; says whether one of them is `stop`, behind which nothing is done.
    @discardableResult
    func perform(_ acting: Acting, into decision: inout Decision) -> Bool {
        perform(source.steps[...], acting, into: &decision)
    }

    func perform(_ steps: ArraySlice<BotStep>, _ acting: Acting, into decision: inout Decision) -> Bool {
        var acting = acting
        for step in steps where perform(step, &acting, into: &decision) { return true }
        return false
    }

    /// What the step leaves behind, such as the points of a strike, is for those behind it.
    @discardableResult
    func perform(_ step: BotStep, _ acting: inout Acting, into decision: inout Decision) -> Bool {
        if acting.isAgain, step.verb != .delete, step.verb != .choose, step.verb != .stop { return false }
        acting.foresee(decision.changes)
        let (event, situation, values) = (acting.event, acting.situation, acting.values)
        switch step.verb {
        case .choose:
            let taken = step.branches.first { branch in
                branches[branch.path].map { acting.holds($0, values) } ?? true
            }
            if let taken { return perform(taken.steps[...], acting, into: &decision) }
        case .stop: return true
        case .log:
            let text = step.message.text?.value(values).plain.trimmed ?? ""
            let line = String(text.prefix(1000).map { $0.isNewline ? " " : $0 })
            if !line.isEmpty {
                decision.notes.append(Decision.Note(by: id, line, isWarning: step.message.isWarning))
            }
        case .count, .reset:
            for count in step.counts {
                if let key = ladderKey(count, acting) {
                    decision.changes.append(.forget(key))
                    continue
                }
                guard let counter = counters[count.counter.value],
                    let key = counter.key(event, situation, count.subject?.value(values))
                else { continue }
                decision.changes.append(
                    step.verb == .reset ? .forget(key) : .add(key, count.by, keep: counter.keep))
            }
        case .reply, .send, .dm, .warn, .relay, .react: decision.actions += actions(step, acting)
        case .report:
            acting.cases = decision.charges.indices.filter { decision.charges[$0].by == id }.map {
                situation.memory.caseName(after: $0)
            }
            decision.actions += actions(step, acting)
        default: return moderate(step, &acting, into: &decision)
        }
        return false
    }

    /// An answer that steward words by itself: a usage line, or the list of commands.
    func answer(_ text: String, _ event: ChatEvent, _ situation: Situation) -> [ChatAction] {
        guard let place = event.place, let message = event.message else { return [] }
        let destination = Destination(markup: situation.abilities.markup)
        return TextParts.split(destination.harmless(text), situation.abilities.textLimit).enumerated().map {
            part, text in
            let path = part == 0 ? "usage" : "usage.part[\(part)]"
            return ChatAction(
                .reply(Outgoing(text), to: MessageReference(message)), in: place, by: id, path: path)
        }
    }

    private func actions(_ step: BotStep, _ acting: Acting) -> [ChatAction] {
        let (event, situation, values) = (acting.event, acting.situation, acting.values)
        let reference = event.reference
        switch step.verb {
        case .react:
            guard let place = event.place, let reference, let emoji = step.message.text else { return [] }
            let text = emoji.render(values, for: Destination())
            return text.isEmpty
                ? [] : [ChatAction(.react(text, to: reference), in: place, by: id, path: step.path)]
        case .reply:
            guard let place = event.place, let reference else { return [] }
            return speech(step, event, situation, values, [place]) { .reply($0, to: reference) }
        case .warn:
            guard let place = event.place else { return [] }
            return speech(step, event, situation, values, [place]) { outgoing in
                // What this rule deletes cannot be answered any more.
                if let reference, !removes { return .reply(outgoing, to: reference) }
                return .send(outgoing)
            }
        case .dm:
            guard let member = event.member else { return [] }
            let place = event.place ?? Place(account: event.account, channel: "")
            return speech(step, event, situation, values, [place]) { .direct($0, user: member.user.text) }
        case .send:
            let named = step.message.to.flatMap { situation.directory.places(named: $0.value) }
            let places = step.message.to.isEmpty ? [event.place].compactMap(\.self) : named.unique
            return speech(step, event, situation, values, places) { .send($0) }
        case .relay:
            let places = step.message.to.flatMap { situation.directory.places(named: $0.value) }.unique
            return speech(step, event, situation, values, places.filter { !$0.isPlace(of: event) }) {
                .send($0)
            }
        case .report:
            let places = step.message.to.flatMap { situation.directory.places(named: $0.value) }.unique
            return speech(
                step, event, situation, values, places, text: { self.report(step, acting, $0) }
            ) { .send($0) }
        default: return []
        }
    }

    func speech(
        _ step: BotStep, _ event: ChatEvent, _ situation: Situation, _ values: TemplateValues,
        _ places: [Place], text words: ((Destination) -> String)? = nil,
        verb: (Outgoing) -> ChatAction.Verb
    ) -> [ChatAction] {
        let mentions = step.message.mention.flatMap { path in values.userIDs(path.value) }.unique
        var actions: [ChatAction] = []
        for (number, place) in places.enumerated() {
            let abilities = situation.directory.accounts[place.account]?.abilities ?? situation.abilities
            let destination = Destination(markup: abilities.markup, mentioned: Set(mentions))
            let text = words?(destination) ?? text(of: step, event, values, destination)
            guard !text.trimmed.isEmpty else { continue }
            let most = step.message.splits ? TextParts.most : 1
            let parts = TextParts.split(text, abilities.textLimit, most: most)
            for (part, text) in parts.enumerated() {
                var path = step.path
                if number > 0 { path += ".to[\(number)]" }
                if part > 0 { path += ".part[\(part)]" }
                let outgoing = Outgoing(
                    text, mentions: part == 0 ? mentions : [], inThread: step.message.thread,
                    isSilent: step.message.silent, isSkippable: step.message.skipsIfClosed)
                var action = ChatAction(verb(outgoing), in: place, by: id, path: path)
                if let after = step.message.deleteAfter {
                    action.then = .afterSending(owner: id, path: path, place, deleteAfter: after)
                }
                actions.append(action)
            }
        }
        return actions
    }

    /// The whole text of a message before it is cut to the service's limit.
    private func text(
        of step: BotStep, _ event: ChatEvent, _ values: TemplateValues, _ destination: Destination
    ) -> String {
        let message = step.message
        var text = message.text?.render(values, for: destination) ?? ""
        let name = destination.print(event.member.map { .theirs($0.name) } ?? .absent)
        switch step.verb {
        case .warn:
            let isNamed =
                message.text?.paths.contains { $0.root == "user" && $0.field != "messages" } ?? false
            if !isNamed, !name.isEmpty { text = "\(name): \(text)" }
        case .relay:
            let body = event.message?.text ?? ""
            if message.quote {
                let title =
                    event.channel.map { $0.title.isEmpty ? $0.uniqueName ?? $0.id.text : $0.title } ?? ""
                let head = message.text == nil ? "\(name) in \(destination.harmless(title)):" : text
                text = "\(head)\n\(destination.quote(body))"
            } else if message.text == nil {
                text = "\(name): \(destination.harmless(body))"
            }
        case .reply where message.quote:
            text = "\(destination.quote(event.message?.text ?? ""))\n\(text)"
        default: break
        }
        if let footer = message.footer?.render(values, for: destination), !footer.isEmpty {
            text += "\n\(footer)"
        }
        return text
    }
}

extension TemplateValues {
    /// The users that a value names.
    func userIDs(_ path: TemplatePath) -> [String] {
        let value = value(of: path)
        if case .list(let items) = value { return items.compactMap { $0.person(event, situation)?.id } }
        return [value.person(event, situation)?.id].compactMap(\.self)
    }
}

extension Place {
    /// Whether it is where the event happened.
    fileprivate func isPlace(of event: ChatEvent) -> Bool {
        guard let own = event.channel, account == event.account else { return false }
        return channel == own.id.text || channel == own.uniqueName
    }
}

extension Array where Element: Hashable {
    /// Each once, in order.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Continuation {
    /// Comes back with the receipt of a message that shall be removed again.
    fileprivate static func afterSending(
        owner: String, path: String, _ place: Place, deleteAfter: Duration
    ) -> Continuation {
        Continuation(
            owner: owner, step: "\(path).sent",
            values: [
                "after": String(deleteAfter.milliseconds), "account": place.account, "channel": place.channel,
            ])
    }

    /// What a rule does about something it had put off.
    func resumed(_ outcome: ChatEvent.Outcome, _ event: ChatEvent, _ situation: Situation) -> Decision {
        var decision = Decision()
        let place = Place(
            account: values["account"] ?? place?.account ?? event.account,
            channel: values["channel"] ?? place?.channel ?? "")
        switch outcome {
        case .done(let receipt) where step.hasSuffix(".sent"):
            guard let message = receipt.message, let after = values["after"].flatMap({ Int64($0) }) else {
                break
            }
            var next = Continuation(
                owner: owner, step: String(step.dropLast(5)) + ".due",
                values: [
                    "account": place.account, "channel": receipt.channel ?? place.channel, "id": message.id,
                ],
                due: situation.now + .milliseconds(after))
            next.values["index"] = message.index.map { String($0) }
            decision.later = [next]
        case .done(let receipt) where step.hasSuffix(".created"):
            decision.actions = invitations(receipt, place.account)
        case .due where step.hasSuffix(".due"):
            guard let message = values["id"] else { break }
            let reference = MessageReference(id: message, index: values["index"].flatMap { Int64($0) })
            decision.actions = [
                ChatAction(
                    .deleteMessage(reference), in: place, by: owner,
                    path: String(step.dropLast(4)) + ".delete_after")
            ]
        default: break
        }
        return decision
    }
}
