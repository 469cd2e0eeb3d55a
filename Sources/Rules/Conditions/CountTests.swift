internal import Chat

/// Asks for a number of something.
final class CountTest: Sendable {
    let measure: Measure
    let span: Span
    /// As it was written.
    let text: String

    init(_ count: BotMeasure) {
        measure = count.measure
        span = Span(count.range)
        text = count.range.text
    }
}

/// Asks for links to some hosts, or to others than these.
final class LinkTest: Sendable {
    let span: Span
    let text: String
    /// In the form hosts are compared in.
    let hostsIn: Set<String>?
    let hostsNotIn: Set<String>?
    let isLoose: Bool

    init(_ links: BotLinks, hostsIn: Set<String>?, hostsNotIn: Set<String>?) {
        span = links.count.map { Span($0) } ?? Span(least: 1)
        text = links.count?.text ?? "1+"
        self.hostsIn = hostsIn
        self.hostsNotIn = hostsNotIn
        isLoose = links.isLoose
    }

    /// The links that are looked for.
    func matching(_ links: [Link]) -> [Link] {
        links.filter { link in
            if let hostsIn {
                // A rule that names a host knows that it is one.
                guard link.domains.contains(where: { hostsIn.contains(String($0)) }) else { return false }
            } else if !link.isSure {
                return false
            }
            guard let hostsNotIn else { return true }
            return !link.domains.contains { hostsNotIn.contains(String($0)) }
        }
    }

    func holds(_ links: [Link]) -> Bool { span.contains(Int64(matching(links).count)) }
}

/// Asks who is called.
final class MentionTest: Sendable {
    let span: Span
    let text: String
    let everyone: Bool
    let of: BotMentions.Of

    init(_ mentions: BotMentions) {
        span = mentions.count.map { Span($0) } ?? Span(least: 1)
        text = mentions.count?.text ?? "1+"
        everyone = mentions.everyone
        of = mentions.of
    }
}

/// Asks how much of a text is in capitals.
final class CapsTest: Sendable {
    let share: Bounds<Int64>
    let letters: Bounds<Int64>?

    init?(_ caps: BotCaps) {
        guard let share = caps.share else { return nil }
        self.share = share
        letters = caps.letters
    }

    func holds(_ caps: Caps) -> Bool {
        guard caps.letters > 0, letters?.contains(Int64(caps.letters)) != false else { return false }
        // Compared without dividing: 80% of 15 letters are 12, not 11 and a rounding.
        let part = Int64(caps.capitals) * 100
        let all = Int64(caps.letters)
        if let lowest = share.lowest, share.isOpen ? part <= lowest * all : part < lowest * all {
            return false
        }
        if let highest = share.highest, share.isOpen ? part >= highest * all : part > highest * all {
            return false
        }
        return true
    }

    /// So many capitals there are at least where it holds.
    var fewestCapitals: Int64 {
        let fewest = max(1, letters.flatMap { Span($0).least } ?? 1)
        let (product, overflow) = (share.lowest ?? 0).multipliedReportingOverflow(by: fewest)
        return overflow ? .max : (product + 99) / 100
    }
}

/// The letters of a text that count for `caps`.
struct Caps: Sendable, Equatable {
    var letters: Int
    var capitals: Int
}
