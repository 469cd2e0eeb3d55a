internal import Chat
internal import Matching
internal import Unicode

/// Puts into words why a rule matched an event or did not, and what it would do.
struct RuleTelling {
    let rule: Rule
    let event: ChatEvent
    let situation: Situation
    let set: RuleSet

    func reason(_ verdict: Verdict, _ turn: borrowing RuleTurn) -> String {
        let who = event.member?.name ?? "nobody"
        switch verdict {
        case .matches:
            let isDry = rule.source.run == .dry || rule.isBroken(situation)
            let dry = isDry ? " (on dry run, so nothing is done)" : ""
            var fragments: [String] = []
            if let condition = rule.condition { fragments = self.fragments(condition, turn) }
            if let command = rule.command { fragments.insert("called by \(command.form)", at: 0) }
            return (fragments.isEmpty ? "matches" : "matches: " + fragments.joined(separator: ", ")) + dry
        case .disabled: return "no: run: disabled"
        case .otherEvent: return "no: it looks at \(rule.source.eventNames)"
        case .otherChannel: return "no: it does not look at this channel"
        case .ownMessage: return "no: this is from steward itself"
        case .notCalled: return "no: it is called by \(rule.command?.form ?? "a command")"
        case .wrongArguments: return "no: that is not how it is called: \(rule.command?.form ?? "")"
        case .bot: return "no: \(who) is a program"
        case .exempt: return "no: \(who) is exempt"
        case .stale: return "no: the event is too old to be answered"
        case .conditionFails:
            guard let condition = rule.condition else { return "no" }
            return "no: " + (why(condition, turn) ?? "a condition does not hold")
        case .undecided:
            return "undecided: the text is so long that there was no time to look through all of it"
        case .coolsDown(let until): return "no: it rests for another \((until - situation.now).words)"
        case .onceBefore:
            return "no: it acted before, and acts once" + (rule.source.isOncePerWindow ? " per window" : "")
        case .answered(let by): return "not asked: \"\(by)\" answers already"
        case .answeredBefore: return "no: the message was answered before it was edited"
        case .groupAnswered(let by): return "not asked: \"\(by)\" of the same group answers"
        case .notAsked(let after):
            return "not asked: \"\(after)\" comes first and ends the \(rule.stage) stage"
        }
    }

    /// Why the rule has nothing to do with the event, in words that fit several rules; nil when it has.
    func aside(_ verdict: Verdict) -> String? {
        switch verdict {
        case .disabled: "disabled"
        case .otherEvent: "look at other events"
        case .otherChannel: "do not look at this channel"
        case .notCalled: "are called by commands"
        default: nil
        }
    }

    /// Whether the verdict, or what is done, hangs on what is remembered.
    func asksMemory(_ verdict: Verdict) -> Bool {
        switch verdict {
        case .matches:
            rule.source.cooldown != nil || rule.source.once != nil || rule.source.batch != nil
                || rule.asksMemory || rule.condition?.asksMemory == true
        case .conditionFails: rule.condition?.asksMemory == true
        case .coolsDown, .onceBefore: true
        default: false
        }
    }

    func actions(_ turn: borrowing RuleTurn) -> [String] {
        var decision = Decision()
        var lines: [String] = []
        var stops = false
        if let batch = rule.source.batch?.value {
            // What it would say if nobody else came.
            lines.append(collecting(batch))
            turn.act(rule, on: [event], event, situation, set, into: &decision)
        } else {
            stops = turn.perform(rule, event, situation, set, into: &decision)
        }
        lines += Self.grouped(decision.actions.map(words))
        lines += decision.notes.map { "log: \($0.text)" }
        lines += decision.changes.compactMap(Self.words)
        lines += decision.charges.map { "file a case against \($0.user)" }
        lines += decision.undone.map { "undo the case \($0)" }
        if stops { lines.append("stop") }
        lines += resting
        return lines
    }

    /// How long it rests after it acted.
    private var resting: [String] {
        var lines: [String] = []
        if let cooldown = rule.source.cooldown {
            let most = cooldown.most == 1 ? "" : "\(cooldown.most) times in "
            let what = cooldown.most == 1 ? "then rest" : "act at most"
            lines.append("\(what) \(most)\(cooldown.time.words) per \(cooldown.per.rawValue)")
        }
        if let once = rule.source.once {
            let until = rule.source.isOncePerWindow ? "not before its window opens anew" : "never again"
            lines.append("then \(until) for this \(once.rawValue)")
        }
        return lines
    }

    private func collecting(_ time: Duration) -> String {
        guard let open = rule.openBatch(event, situation)?.batch else {
            return "collect for \(time.words), then:"
        }
        let left = max(.zero, open.due - situation.now).words
        return "collect with \(open.lines.count) before, and in \(left):"
    }

    private static func words(_ change: MemoryChange) -> String? {
        switch change {
        case .add(let key, let number, _) where key.owner == Counter.owner:
            "count \(key.name) \(number < 0 ? "" : "+")\(number)\(whose(key))"
        case .forget(let key) where key.owner == Counter.owner: "reset \(key.name)\(whose(key))"
        default: moderation(change)
        }
    }

    static func whose(_ key: MemoryKey) -> String {
        switch key.subject {
        case .user(let user): " of \(user)"
        case .channel(let channel): " of \(channel)"
        case .all: ""
        }
    }

    /// The channel as people call it.
    func name(of place: Place) -> String {
        guard place == event.place, let channel = event.channel else { return place.channel }
        return channel.isDirect ? Scope.direct : channel.uniqueName ?? place.channel
    }

    private func words(_ action: ChatAction) -> String {
        let after = action.then?.values["after"].flatMap { Int64($0) }.map { Duration.milliseconds($0).short }
        let end = after.map { ", removed after \($0)" } ?? ""
        let place = name(of: action.place)
        switch action.verb {
        case .reply(let text, _): return "reply in \(place)\(end): \(text.text)"
        case .send(let text): return "send to \(place)\(end): \(text.text)"
        case .direct(let text, let user): return "dm to \(user): \(text.text)"
        case .deleteMessage(let reference):
            let isOwn = event.message.map { $0.id == reference.id } ?? true
            return isOwn ? "delete the message" : "delete an earlier message"
        case .react(let emoji, _): return "react with \(emoji)"
        default: return moderation(action)
        }
    }

    // MARK: Why not

    /// What keeps a condition from holding; nil when it holds.
    private func why(_ condition: Condition, _ turn: borrowing RuleTurn) -> String? {
        guard !turn.holds(condition, rule, event, situation, set) else { return nil }
        switch condition {
        case .found(let number): return missing(set.probes[Int(number)])
        case .has(let fields): return "the event has no \(fields.map(\.rawValue).joined(separator: " or "))"
        case .near(let test, _): return "nothing is near \(list(test.words))"
        case .count, .links, .hosts, .mentions, .caps: return count(condition, turn)
        case .time(let test): return time(test, turn)
        case .plugin(let test): return "the plugin says no: \(test.words)"
        case .mode(let test): return "the mode is \(test.current(situation)), not \(test.words)"
        case .reaction(let test):
            return event.reaction.map { "the reaction is \($0.key.shortened), not \(list(test.written))" }
                ?? "it is no reaction"
        case .by(let test):
            return "it was done by \(DoerTest.doer(of: event, situation).rawValue), not by \(test.words)"
        case .policy(let test): return "\(event.member?.name ?? "nobody") is not in \(test.words)"
        case .rate(let test): return "\(counted(test, turn)), not \(test.rate.words)"
        case .check(let test):
            let text = test.text(turn.values(of: rule, event, situation, set))
            return
                "\(test.value.source) is \(text.isEmpty ? "empty" : "\"\(text.shortened)\""), not \(list(test.words))"
        case .user(let test):
            let values = turn.values(of: rule, event, situation, set)
            let objection = test.objection(event, EventLook(event), situation) { values.value(of: $0) }
            return objection.map(words)
        case .all(let conditions):
            for condition in conditions {
                if let reason = why(condition, turn) { return reason }
            }
            return nil
        case .any(let conditions):
            var reasons: [String] = []
            for condition in conditions {
                if let reason = why(condition, turn) { reasons.append(reason) }
            }
            return "none of these holds: " + reasons.prefix(3).joined(separator: "; ")
        case .not(let inner):
            let found = fragments(inner, turn)
            return found.isEmpty
                ? "what must not hold does hold"
                : "the text has \(found.joined(separator: ", ")), and must not"
        }
    }

    /// Of what sort the reason is for which it does not match; nil for one of its own.
    func sort(_ verdict: Verdict, _ turn: borrowing RuleTurn) -> ReasonSort? {
        guard verdict == .conditionFails, let condition = rule.condition else { return nil }
        return sort(condition, turn)
    }

    private func sort(_ condition: Condition, _ turn: borrowing RuleTurn) -> ReasonSort? {
        guard !turn.holds(condition, rule, event, situation, set) else { return nil }
        switch condition {
        case .found, .has, .near: return ReasonSort(.words, "they do not find what they look for")
        case .count, .links, .hosts, .mentions, .caps:
            return ReasonSort(.counts, "what they count is not as they want it")
        case .rate: return ReasonSort(.rates, "it was not so often")
        case .time: return ReasonSort(.times, "it is not the time for them")
        case .mode(let test): return ReasonSort(.times, "the mode is \(test.current(situation))")
        case .user:
            return ReasonSort(.people, "\(event.member?.name ?? "nobody") is not whom they ask for")
        case .plugin, .reaction, .by, .policy, .check, .not:
            return ReasonSort(.others, "a condition does not hold")
        case .all(let list):
            for condition in list { if let sort = sort(condition, turn) { return sort } }
            return nil
        case .any(let list):
            var sorts: [ReasonSort] = []
            for condition in list { if let sort = sort(condition, turn) { sorts.append(sort) } }
            let isOne = sorts.allSatisfy { $0 == sorts.first }
            return isOne ? sorts.first : ReasonSort(.others, "none of what they ask for holds")
        }
    }

    private func missing(_ probe: Probe) -> String {
        let what = probe.fields == [.body] ? "the text" : probe.fields.map(\.rawValue).joined(separator: ", ")
        switch probe.kind {
        case .any, .none: return "\(what) has none of \(list(probe.words))"
        case .all: return "\(what) does not have \(list(probe.words))"
        case .equals: return "\(what) is not \(list(probe.words))"
        case .starts: return "\(what) does not start with \(list(probe.words))"
        case .ends: return "\(what) does not end with \(list(probe.words))"
        case .regex: return "\(what) does not match \(list(probe.words))"
        case .hosts: return "no link leads to \(list(probe.words))"
        case .rate: return "it was not so often"
        case .near: return "nothing is near \(list(probe.words))"
        }
    }

    func list(_ words: [Placed<String>]) -> String {
        let shown = words.prefix(4).map { "\"\($0.value.shortened)\"" }.joined(separator: ", ")
        return words.count > 4 ? "\(shown) and \(words.count - 4) more" : shown
    }

    private func words(_ objection: UserTest.Objection) -> String {
        let who = event.member?.name ?? "nobody"
        return switch objection {
        case .nobody: "the event has no user"
        case .firstTime(let wanted): wanted ? "\(who) was seen before" : "\(who) was never seen before"
        case .bot(let wanted): wanted ? "\(who) is no program" : "\(who) is a program"
        case .messages(let range): "\(who) wrote \(situation.facts.messages) messages, not \(range)"
        case .memberFor(let range):
            situation.memberFor(event).map { "\(who) has been a member for \($0.words), not \(range)" }
                ?? "it is not known since when \(who) is a member"
        case .away(let range):
            situation.away(event).map { "\(who) was away for \($0.words), not \(range)" }
                ?? "\(who) was never seen before"
        case .id: "it is for other users"
        case .role(let roles): "\(who) is no \(roles.joined(separator: " or "))"
        case .hasRole(let role): "\(who) is \(role)"
        case .isNot(let path): "\(path) is \(who)"
        default: moderation(objection)
        }
    }

    // MARK: What matched

    /// The pieces of the event's texts that made a condition hold.
    private func fragments(_ condition: Condition, _ turn: borrowing RuleTurn) -> [String] {
        switch condition {
        case .found(let number):
            return turn.isFound(number) ? [fragment(number, turn)].compactMap(\.self) : []
        case .near(let test, let probe):
            guard turn.isFound(probe), let words = turn.nearMatch(test, event, set) else { return [] }
            return ["\"\(words)\", near \(list(test.words))"]
        case .all(let conditions), .any(let conditions):
            var all: [String] = []
            for condition in conditions { all += fragments(condition, turn) }
            return all
        case .count, .links, .hosts, .mentions, .caps: return counted(condition, turn)
        case .plugin(let test):
            return turn.holds(condition, rule, event, situation, set) ? [test.words] : []
        case .rate(let test): return turn.isFound(test.probe) ? [counted(test, turn)] : []
        case .time(let test):
            return turn.holds(condition, rule, event, situation, set)
                ? (test.any ?? []).filter(turn.isOpen).map { "it is \(set.windows[$0].name)" } : []
        case .check(let test):
            guard turn.holds(condition, rule, event, situation, set) else { return [] }
            let text = test.text(turn.values(of: rule, event, situation, set))
            return ["\(test.value.source) is \"\(text.shortened)\""]
        case .mode(let test): return test.holds(situation) ? ["the mode is \(test.current(situation))"] : []
        case .reaction: return event.reaction.map { ["the reaction \($0.key.shortened)"] } ?? []
        case .policy(let test): return test.match(event, situation).map { [$0.words] } ?? []
        case .by(let test):
            return test.holds(event, situation)
                ? ["done by \(DoerTest.doer(of: event, situation).rawValue)"] : []
        case .has, .user, .not: return []
        }
    }

    /// The first piece of text that made the rule match, as it was written.
    func firstFragment(_ turn: borrowing RuleTurn) -> String? {
        guard let condition = rule.condition else { return nil }
        guard let text = firstFragment(condition, turn) else { return nil }
        return text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1
            ? String(text.dropFirst().dropLast()) : text
    }

    private func firstFragment(_ condition: Condition, _ turn: borrowing RuleTurn) -> String? {
        switch condition {
        case .found(let number): return turn.isFound(number) ? fragment(number, turn) : nil
        case .near(let test, let probe):
            return turn.isFound(probe) ? turn.nearMatch(test, event, set) : nil
        case .links(let test), .hosts(let test, _):
            return test.matching(turn.links(spelledOut: test.isLoose)).first?.host.shortened
        case .all(let list), .any(let list):
            for condition in list { if let text = firstFragment(condition, turn) { return text } }
            return nil
        default: return nil
        }
    }

    private func fragment(_ number: Int32, _ turn: borrowing RuleTurn) -> String? {
        let probe = set.probes[Int(number)]
        for lane in probe.lanes {
            let state = turn.state(of: lane)
            let bytes = Array(state.text.utf8)
            let table = set.lanes[lane]
            for hit in state.scan.hits {
                let targets = Int(table.firstTarget[hit.phrase])..<Int(table.firstTarget[hit.phrase + 1])
                guard targets.contains(where: { table.targets[$0].probe == number }) else { continue }
                let range = state.folded.original(of: hit.range)
                guard range.upperBound <= bytes.count else { continue }
                return "\"\(SkippedText.unmarked(String(decoding: bytes[range], as: UTF8.self)))\""
            }
            let text = probe.seesFolded ? String(decoding: state.folded.bytes, as: UTF8.self) : state.text
            for regex in probe.regexes {
                guard let match = regex.firstMatch(in: text) else { continue }
                let piece = String(decoding: Array(text.utf8)[match.range], as: UTF8.self)
                return "\"\(SkippedText.unmarked(piece).shortened)\""
            }
        }
        return nil
    }
}
