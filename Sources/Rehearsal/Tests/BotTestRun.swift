internal import Chat
internal import Engine
internal import Rules

/// One test on its way through its steps.
struct BotTestRun {
    private let test: BotTest
    private let rules: RuleSet
    private let directory: Directory
    private let stage: String
    private let start: Timestamp
    private var rehearsal: Rehearsal

    /// Who does what nobody is named for.
    private static let somebody = "someone"

    /// 15 June 2026 at 12:00 UTC, a Monday.
    private static let usualStart = Timestamp(milliseconds: 1_781_524_800_000)

    init(_ test: BotTest, _ rules: RuleSet, limits: Turn.Limits) {
        self.test = test
        self.rules = rules
        var directory = rules.directoryForTests
        // Lists as the test makes them, and not those that services keep meanwhile.
        directory.policies = PolicyLists()
        // A test says what becomes of who is muted or banned, wherever its rules are used: steward keeps it here, also where
        // a service would.
        for name in directory.accounts.keys {
            directory.accounts[name]?.abilities.actions.subtract([
                "mute", "unmute", "ban", "unban", "lock", "unlock", "slowmode",
            ])
        }
        stage = rules.stage(ofTestIn: test.rule, directory)
        start = test.given.now ?? Self.usualStart
        for person in test.given.people {
            for role in person.roles { directory.roles[role, default: .init()].add(person.user, directory) }
        }
        self.directory = directory
        let given = test.given
        rehearsal = Rehearsal(
            rules.freshHandlers, directory: directory, limits: limits,
            chat: RehearsedChat(directory, people: given.people), now: start, rules: rules
        ) { user, start in
            (given.people.first { $0.user == user } ?? given.everyone)?.facts(at: start)
        }
        let account = directory.accountNames.first ?? ""
        let realm = rehearsal.chat.realm(of: account)
        let changes = given.counters.compactMap { count in
            rules.change(count) {
                realm.user($0)
            } channel: {
                realm.channel(directory.places(named: $0).first?.channel ?? $0)
            }
        }
        rehearsal.remember(changes + rules.changes(given, at: start) { realm.user($0) })
    }

    /// Takes the steps until one fails; nil when all hold.
    mutating func run() -> BotTestFailure? {
        var deeds: [Rehearsal.Deed] = []
        var notes: [String] = []
        for (number, step) in test.steps.enumerated() {
            if let at = step.at { rehearsal.advance(to: start + at) }
            for n in 1...step.times {
                if n > 1, step.every > .zero { rehearsal.advance(to: rehearsal.now + step.every) }
                if let mistake = take(step, n) {
                    return BotTestFailure(
                        test: test, step: number + 1, at: rehearsal.now - start, place: step.place,
                        problem: mistake, rows: [], notes: notes)
                }
            }
            let more = rehearsal.takeDeeds()
            deeds += more.deeds.filter { test.rule == nil || $0.by == test.rule }
            notes += more.notes.filter { !notes.contains($0) }
            guard let expected = step.expected else { continue }
            let comparison = Comparison(expected, deeds.map(told), rules.directoryForTests)
            if !comparison.holds {
                return BotTestFailure(
                    test: test, step: number + 1, at: rehearsal.now - start, place: step.place,
                    problem: comparison.problem, rows: comparison.rows, notes: notes)
            }
            (deeds, notes) = ([], [])
        }
        return nil
    }

    /// What keeps the step from happening.
    private mutating func take(_ step: BotTest.Step, _ n: Int) -> String? {
        guard let happening = step.happening else { return nil }
        let user = Self.filled(step.by ?? Self.somebody, n)
        let now = rehearsal.now
        switch happening {
        case .tick(let pause): rehearsal.advance(to: now + pause)
        case .restart(let pause): rehearsal.restart(after: pause)
        case .reconnect(let pause): rehearsal.reconnect(after: pause)
        case .policy(let policy, let isAdded):
            rehearsal.deliver([
                rehearsal.chat.change(
                    policy.filled { Self.filled($0, n) }, isAdded: isAdded,
                    by: step.by.map { Self.filled($0, n) }, account: directory.accountNames.first ?? "",
                    at: now)
            ])
        default:
            let channel = Self.filled(step.channel ?? stage, n)
            guard let place = place(channel, user) else { return "no account has a channel \"\(channel)\"" }
            switch happening {
            case .say(let text):
                rehearsal.deliver([
                    rehearsal.chat.say(
                        Self.filled(text, n), by: account(user, place), in: place, at: now, isBot: step.isBot,
                        attachments: step.attachments)
                ])
            case .edit(let text):
                let by = step.by.map { _ in account(user, place) }
                guard let event = rehearsal.chat.edit(to: Self.filled(text, n), by: by, in: place, at: now)
                else { return "there is no message to edit" }
                rehearsal.deliver([event])
            case .remove:
                let by = step.by.map { _ in account(user, place) }
                guard let event = rehearsal.chat.remove(by: by, in: place, at: now) else {
                    return "there is no message to remove"
                }
                rehearsal.deliver([event])
            case .join: rehearsal.deliver([rehearsal.chat.join(account(user, place), place, at: now)])
            case .leave: rehearsal.deliver([rehearsal.chat.leave(account(user, place), place, at: now)])
            case .rename(let name):
                rehearsal.deliver([
                    rehearsal.chat.rename(account(user, place), to: Self.filled(name, n), place, at: now)
                ])
            case .react(let emoji, let author, let isAdded):
                let author = author.map { account(Self.filled($0, n), place) }
                guard
                    let event = rehearsal.chat.react(
                        emoji, by: account(user, place), of: author, isAdded: isAdded, in: place, at: now)
                else { return "there is no message to react to" }
                rehearsal.deliver([event])
            case .backlog(let count, let time, let text): backlog(count, time, text, place, step)
            case .command, .tick, .restart, .reconnect, .policy: break
            }
        }
        return nil
    }

    /// The last of them was written just now, the others evenly before.
    private mutating func backlog(
        _ count: Int, _ time: Duration, _ text: String, _ place: Place, _ step: BotTest.Step
    ) {
        let now = rehearsal.now
        var events: [ChatEvent] = []
        for number in 1...count {
            let age = Duration.milliseconds(time.milliseconds * Int64(count - number) / Int64(max(1, count)))
            events.append(
                rehearsal.chat.say(
                    Self.filled(text, number),
                    by: account(Self.filled(step.by ?? Self.somebody, number), place), in: place,
                    at: now - age, isBot: step.isBot, attachments: step.attachments))
        }
        rehearsal.deliver(events)
    }

    private func place(_ channel: String, _ user: String) -> Place? {
        if channel == "direct" {
            guard let account = directory.accountNames.first else { return nil }
            return Place(account: account, channel: Place.direct(user))
        }
        if let place = directory.places(named: channel).first { return place }
        // A test may play anywhere, as long as the rule looks there.
        return directory.accountNames.first.map { Place(account: $0, channel: channel) }
    }

    /// The person without the account it may be named with.
    private func account(_ user: String, _ place: Place) -> String {
        user.hasPrefix("\(place.account):") ? String(user.dropFirst(place.account.count + 1)) : user
    }

    private func told(_ deed: Rehearsal.Deed) -> Comparison.Deed {
        let action: ChatAction
        switch deed.what {
        case .action(let done): action = done
        case .rule(let done, let place):
            var told = Comparison.Deed(
                word: done.word, plainWord: done.word, rule: deed.by,
                place: place ?? Place(account: "", channel: ""))
            (told.text, told.user, told.time, told.points) = (done.text, done.user, done.time, done.points)
            return told
        }
        var told = Comparison.Deed(
            word: rules.word(for: action), plainWord: action.plainWord, rule: action.by, place: action.place,
            failure: deed.failure)
        if let outgoing = action.outgoing {
            told.text = outgoing.text
            told.mentions = outgoing.mentions
            told.isInThread = outgoing.inThread
            told.isSilent = outgoing.isSilent
        }
        switch action.verb {
        case .direct(_, let user): told.user = user
        case .deleteMessage(let reference):
            let message = rehearsal.chat.message(reference, in: action.place)
            told.text = message?.text
            told.user = message?.author
            told.isBurst = rules.isOfBurst(action)
        case .react(let emoji, let reference):
            told.text = emoji
            told.user = rehearsal.chat.message(reference, in: action.place)?.author
        case .removeMember(let user), .addMember(let user), .unmute(let user), .unban(let user):
            told.user = user
        case .mute(let user, let until, let reason), .ban(let user, let until, let reason):
            told.user = user
            told.text = reason
            told.time = until.map { $0 - deed.at }
        case .lock(let until, let reason):
            told.text = reason
            told.time = until.map { $0 - deed.at }
        case .slowMode(let time): told.time = time ?? .zero
        default: break
        }
        return told
    }

    /// A text of a step with the number of the repetition; everything else in it is as it was written.
    private static func filled(_ text: String, _ n: Int) -> String {
        guard text.contains("{{") else { return text }
        return text.replacing("{{ n }}", with: "\(n)").replacing("{{n}}", with: "\(n)")
    }
}

extension Policy {
    fileprivate func filled(_ fill: (String) -> String) -> Policy {
        var policy = self
        policy.entity = fill(entity)
        return policy
    }
}

extension Directory.Role {
    fileprivate mutating func add(_ user: String, _ directory: Directory) {
        if user.contains(":") { users.insert(user) }
        for account in directory.accounts.keys { users.insert("\(account):\(user)") }
    }
}

extension BotTest.Person {
    /// What steward noted of them before the test; nil when it never saw them.
    fileprivate func facts(at start: Timestamp) -> MemberFacts? {
        let wasSeen = memberFor != nil || away != nil || (messages ?? 0) > 0
        guard isFirstTime == false || isFirstTime == nil && wasSeen else { return nil }
        let lastSeen = start - (away ?? .seconds(3600))
        let firstSeen = min(start - (memberFor ?? .seconds(30 * 86_400)), lastSeen)
        return MemberFacts(
            firstSeen: memberFor.map { start - $0 } ?? firstSeen, lastSeen: lastSeen,
            messages: messages ?? 0)
    }
}
