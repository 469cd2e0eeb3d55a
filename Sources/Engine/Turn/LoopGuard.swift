package import Chat

/// Notices when a rule and somebody else's program feed each other, and makes that rule silent towards that sender for
/// a while.
///
/// It goes by the service's clock and by our own messages as they come back in the channel, so that people who wrote
/// much while we were away are not taken for a loop.
package struct LoopGuard: Sendable {
    package struct Limits: Sendable {
        /// So many exchanges of one rule with one sender …
        package var exchanges = 5
        /// … within this time are a loop.
        package var exchangesWithin = Duration.seconds(60)
        /// An exchange is our answer and then a message of a program, or of somebody who is as quick as one.
        package var quickerThan = Duration.seconds(2)
        /// The same text of one sender answered so often …
        package var repeats = 3
        /// … within this time is a loop, too.
        package var repeatsWithin = Duration.seconds(120)
        package var silence = Duration.seconds(600)

        package init() {}
    }

    /// A rule that has just become silent towards a sender.
    package struct Silenced: Sendable, Equatable {
        package var rule: String
        package var sender: String
        package var why: String
        /// The rule is silent towards nobody else who is news.
        package var isNews = true
    }

    fileprivate struct RuleState {
        let rule: String
        /// When the message we answered was sent; nil once it was counted.
        var answered: Timestamp?
        var exchanges: [Timestamp] = []
        var texts: [(hash: Int, at: Timestamp)] = []
        var silentUntil: Timestamp?
    }

    private struct SenderState {
        /// Holds the sender's number.
        let sender: UserID
        var rules: [RuleState] = []
        var lastUsed: Timestamp
    }

    /// Nil: no guard.
    private let limits: Limits?
    private var senders = IdentityTable<SenderState>()
    /// A bit for each number that has ever been among them: few senders are answered, and this fits the cache.
    private var answered: [UInt64] = []
    /// When we last spoke in a channel.
    private var spoke: [ChannelID: Timestamp] = [:]
    /// When each rule became silent last that was news.
    private var told: [String: Timestamp] = [:]

    package init(_ limits: Limits?) {
        self.limits = limits
    }

    /// One of our own messages came back.
    package mutating func heardOurselves(in channel: ChannelID, at: Timestamp) {
        guard limits != nil else { return }
        spoke[channel] = max(spoke[channel] ?? at, at)
        if spoke.count > 4096 {
            let oldest = at - .seconds(60)
            spoke = spoke.filter { $0.value >= oldest }
        }
    }

    /// Counts a message before it is decided; says which rules become silent by it.
    package mutating func heard(_ event: ChatEvent) -> [Silenced] {
        let number = Int(event.digest.user)
        guard number / 64 < answered.count, answered[number / 64] & 1 << UInt64(number % 64) != 0,
            event.digest.name == .messageAdded,
            senders.withPlace(UInt32(number), { $0?.rules.contains { $0.answered != nil } }) == true,
            let limits, case .messageAdded(let message) = event.kind,
            let channel = event.channel?.id, var state = senders[UInt32(number)]
        else { return [] }
        var silenced: [Silenced] = []
        for index in state.rules.indices {
            guard let answered = state.rules[index].answered, let spoke = spoke[channel], spoke >= answered,
                event.sentAt >= spoke
            else { continue }
            state.rules[index].answered = nil
            guard message.author.isBot || event.sentAt - spoke <= limits.quickerThan else { continue }
            let start = event.sentAt - limits.exchangesWithin
            state.rules[index].exchanges.removeAll { $0 < start }
            state.rules[index].exchanges.append(event.sentAt)
            if state.rules[index].exchanges.count >= limits.exchanges {
                silenced += state.rules[index].silence(
                    towards: message.author.user, at: event.sentAt, limits,
                    "\(limits.exchanges) exchanges in \(limits.exchangesWithin.components.seconds) s")
            }
        }
        senders[UInt32(number)] = state
        return silenced.isEmpty ? silenced : asTold(silenced, at: event.sentAt, limits)
    }

    /// News is each rule once in the time of a silence, however many senders there are.
    private mutating func asTold(
        _ silenced: [Silenced], at: Timestamp, _ limits: Limits
    ) -> [Silenced] {
        silenced.map { one in
            var one = one
            one.isNews = told[one.rule].map { at - $0 >= limits.silence } ?? true
            if one.isNews { told[one.rule] = at }
            return one
        }
    }

    package func isSilent(_ rule: String, towards user: UserID, at: Timestamp) -> Bool {
        guard let state = senders[user.identity.number] else { return false }
        return state.rules.contains { $0.rule == rule && ($0.silentUntil.map { at < $0 } ?? false) }
    }

    /// A rule answers a message; says whether it becomes silent after this answer.
    package mutating func answered(_ event: ChatEvent, by rule: String) -> [Silenced] {
        guard let limits, case .messageAdded(let message) = event.kind else { return [] }
        let user = message.author.user
        if senders.count > 16_384 { forget(before: event.sentAt - limits.silence) }
        var state = senders[user.identity.number] ?? SenderState(sender: user, lastUsed: event.sentAt)
        state.lastUsed = max(state.lastUsed, event.sentAt)
        let index =
            state.rules.firstIndex { $0.rule == rule }
            ?? {
                state.rules.append(RuleState(rule: rule))
                return state.rules.count - 1
            }()
        state.rules[index].answered = event.sentAt
        let start = event.sentAt - limits.repeatsWithin
        let hash = message.text.hashValue
        state.rules[index].texts.removeAll { $0.at < start }
        state.rules[index].texts.append((hash, event.sentAt))
        var silenced: [Silenced] = []
        if state.rules[index].texts.count(where: { $0.hash == hash }) >= limits.repeats {
            silenced = state.rules[index].silence(
                towards: user, at: event.sentAt, limits,
                "the same text \(limits.repeats) times in \(limits.repeatsWithin.components.seconds) s")
        }
        senders[user.identity.number] = state
        remember(Int(user.identity.number))
        return silenced.isEmpty ? silenced : asTold(silenced, at: event.sentAt, limits)
    }

    private mutating func remember(_ number: Int) {
        if number / 64 >= answered.count {
            answered.append(contentsOf: repeatElement(0, count: number / 64 + 1 - answered.count))
        }
        answered[number / 64] |= 1 << UInt64(number % 64)
    }

    private mutating func forget(before time: Timestamp) {
        senders.removeAll { $0.lastUsed < time }
        answered = []
        for state in senders.values { remember(Int(state.sender.identity.number)) }
    }
}

extension LoopGuard.RuleState {
    fileprivate mutating func silence(
        towards user: UserID, at: Timestamp, _ limits: LoopGuard.Limits, _ why: String
    ) -> [LoopGuard.Silenced] {
        silentUntil = at + limits.silence
        exchanges = []
        texts = []
        return [LoopGuard.Silenced(rule: rule, sender: user.text, why: why)]
    }
}
