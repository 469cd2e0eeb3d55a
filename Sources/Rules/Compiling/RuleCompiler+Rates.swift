internal import Chat

/// Rates: checked, and put together where they count the same.
extension RuleCompiler {
    func compile(_ rate: BotRate, of rule: BotRule, stage: Stage) -> Condition {
        check(rate, of: rule)
        let exempt = rule.exempt ?? (stage == .guard ? file?.exempt ?? .usual : Exempt())
        let exemption = Exemption(
            roles: exempt.roles.map(\.value).sorted(), users: Set(exempt.users.map(\.value)))
        let number = exemptions.firstIndex(of: exemption) ?? exemptions.count
        if number == exemptions.count { exemptions.append(exemption) }
        let asksForBots = rule.condition?.value.asksForBots == true || rate.only?.bot != nil
        var across = rate.across
        // Within one channel, channels need not be told apart.
        if rate.per == .channel { across = .channel }
        let key = RateWindowKey(
            kind: rate.kind, per: rate.per == .user ? .user : nil, across: across,
            scope: scope(of: rule), exemption: number, seesBots: exempt.bots == false || asksForBots,
            only: rate.only.map { "\(UserWords($0))" } ?? "")
        let window = rateNumbers[key] ?? rateWindows.count
        if window == rateWindows.count {
            rateNumbers[key] = window
            rateWindows.append(RateWindow(key: key, only: rate.only.map(userTest), time: rate.time))
        }
        rateWindows[window] = rateWindows[window].lasting(rate.time)
        if let same = rateWindows[window].tests.first(where: { $0.rate.words == rate.words }) {
            return .rate(same)
        }
        let test = RateTest(rate: rate, window: window, probe: Int32(probes.count))
        probes.append(Probe(kind: .rate, words: [], fields: [], lanes: []))
        sizes.append(1)
        rateWindows[window] = rateWindows[window].adding(test)
        return .rate(test)
    }

    private func check(_ rate: BotRate, of rule: BotRule) {
        let events = rule.when.map(\.value)
        if rate.per == .user, !events.isEmpty, !events.contains(where: \.hasMember) {
            findings.error("\(rule.eventNames) has no user, so nothing is per user", at: rate.spot)
        }
        if rate.kind.looksAtText, !events.isEmpty, !events.contains(where: \.hasText) {
            findings.error(
                "\(rule.eventNames) has no text that could be \(rate.kind.rawValue)", at: rate.spot)
        }
        if rate.across == .channel, !events.isEmpty, !events.contains(where: \.hasChannel) {
            findings.error("\(rule.eventNames) has no channel", at: rate.spot, hint: "add across: service")
        }
        if rate.per == .channel, rate.across != .channel {
            findings.error(
                "\"per channel\" and \"across \(rate.across.rawValue)\" contradict each other", at: rate.spot,
                hint: "remove one of them")
        }
        if rate.distinct == .user, rate.per == .user {
            findings.error("one user is never several", at: rate.spot, hint: "remove per: user")
        }
        if rate.distinct == .channel, rate.across == .channel {
            findings.error("one channel is never several", at: rate.spot, hint: "add across: service")
        }
        if let only = rate.only {
            if only.name != nil || only.isNot != nil {
                findings.error("\"only\" cannot ask for name or is_not", at: only.spot)
            }
            for role in (only.roles ?? []) + (only.notRoles ?? []) { check(role: role) }
        }
    }
}

/// What is asked of a user, as one text.
private struct UserWords: CustomStringConvertible {
    let description: String

    init(_ user: BotUser) {
        let parts: [String?] = [
            user.firstTime.map { "first \($0)" }, user.bot.map { "bot \($0)" },
            user.roles.map { "role \($0.map(\.value).sorted())" },
            user.notRoles.map { "not role \($0.map(\.value).sorted())" },
            user.memberFor.map { "for \($0.text)" },
            user.away.map { "away \($0.text)" }, user.messages.map { "messages \($0.text)" },
            user.ids.map { "id \($0.map(\.value).sorted())" },
            user.strikes.map { "strikes \($0.ladder?.value ?? "") \($0.total?.text ?? "")" },
            user.permits.map { "permit \($0.map(\.value).sorted())" },
            user.notPermits.map { "no permit \($0.map(\.value).sorted())" },
            user.leftBy.map { "left by \($0)" },
        ]
        description = parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension BotCondition {
    var asksForRate: Bool {
        switch self {
        case .rate: true
        case .all(let list), .any(let list): list.contains(where: \.asksForRate)
        case .not(let condition): condition.asksForRate
        default: false
        }
    }

    /// Whether it asks if the member is a program.
    var asksForBots: Bool {
        switch self {
        case .user(let user): user.bot != nil
        case .all(let list), .any(let list): list.contains(where: \.asksForBots)
        case .not(let condition): condition.asksForBots
        default: false
        }
    }
}
