/// Whether what is written holds for what people usually write.
extension BotCondition {
    /// Whether it holds for an ordinary message: a line of plain text, by somebody who has been here for long, while
    /// nothing is going on. It is on the safe side: what cannot be told does not hold.
    var holdsUsually: Bool {
        switch self {
        case .all(let list): list.allSatisfy(\.holdsUsually)
        case .any(let list): list.contains(where: \.holdsUsually)
        case .not(let inner): inner.neverHoldsUsually
        case .text(let text): text.asksForNothing
        case .user(let user): user.isUsual
        case .count(let count): count.isUsual
        case .links(let links):
            links.count?.contains(0) == true && links.hostsIn == nil && links.hostsNotIn == nil
        case .mentions(let mentions): !mentions.everyone && mentions.count?.contains(0) == true
        case .mode(let mode): mode.modes.isEmpty
        case .time: true
        case .caps, .check, .rate, .reaction, .by, .policy, .plugin: false
        }
    }

    /// Whether it surely does not.
    private var neverHoldsUsually: Bool {
        switch self {
        case .all(let list): list.contains(where: \.neverHoldsUsually)
        case .any(let list): list.allSatisfy(\.neverHoldsUsually)
        case .not(let inner): inner.holdsUsually
        case .text(let text): !text.asksForNothing
        case .count, .links, .mentions: !holdsUsually
        case .mode(let mode): !mode.modes.isEmpty
        case .caps, .rate, .reaction, .policy: true
        case .user(let user): user.firstTime == true || user.bot == true
        case .time, .check, .by, .plugin: false
        }
    }
}

extension BotText {
    /// Whether it only says what must not be there.
    fileprivate var asksForNothing: Bool {
        none != nil && any == nil && all == nil && equals == nil && starts == nil && ends == nil
            && regexes == nil && near == nil
    }
}

extension BotUser {
    fileprivate var isUsual: Bool {
        firstTime != true && bot != true && roles == nil && name == nil && ids == nil && strikes == nil
            && permits == nil && leftBy == nil && away == nil
            && memberFor?.contains(.seconds(365 * 86_400)) ?? true && messages?.contains(1000) ?? true
    }
}

extension BotMeasure {
    fileprivate var isUsual: Bool {
        switch measure {
        case .length: range.contains(40)
        case .lines: range.contains(1)
        default: range.contains(0)
        }
    }
}
