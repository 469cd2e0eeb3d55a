internal import Chat
internal import Rules

/// What was expected beside what was done.
struct Comparison {
    /// An action in the words of a test.
    struct Deed {
        /// As its rule calls it, and as its service does.
        var word: String
        var plainWord: String
        var rule: String
        var place: Place
        var failure: String?
        var text: String?
        var user: String?
        var mentions: [String] = []
        var isInThread = false
        var isSilent = false
        var time: Duration?
        var points: Int64?
        var isBurst = false
    }

    /// A line of the report: what was expected, what was done, and whether the two belong together.
    struct Row: Sendable, Equatable {
        var expected: String?
        var actual: String?
        var holds: Bool
    }

    let rows: [Row]
    let problem: String
    var holds: Bool { rows.allSatisfy(\.holds) }

    init(_ expectations: [BotTest.Expectation], _ deeds: [Deed], _ directory: Directory) {
        let wanted = expectations.flatMap { [BotTest.Expectation](repeating: $0, count: $0.times) }
        let pairs = Self.pairs(wanted, deeds) { $0.fits($1, directory) }
        let taken = Set(pairs.compactMap(\.self))
        let left = deeds.indices.filter { !taken.contains($0) }
        var rows: [Row] = []
        var unused = left[...]
        for (index, expectation) in wanted.enumerated() {
            let text = expectation.inWords(isSingle: true)
            if let deed = pairs[index] {
                rows.append(Row(expected: text, actual: deeds[deed].inWords(directory), holds: true))
                continue
            }
            // Beside it stands what it may have been meant to be.
            let near = unused.firstIndex { expectation.isVerb(of: deeds[$0]) }
            let deed = near.map { unused.remove(at: $0) }
            rows.append(Row(expected: text, actual: deed.map { deeds[$0].inWords(directory) }, holds: false))
        }
        rows += unused.map { Row(expected: nil, actual: deeds[$0].inWords(directory), holds: false) }
        self.rows = rows
        let missing = pairs.count(where: { $0 == nil })
        var parts: [String] = []
        if missing > 0 { parts.append("\(missing) of \(wanted.count) expected actions missing") }
        if !left.isEmpty { parts.append("\(left.count) action\(left.count == 1 ? "" : "s") not expected") }
        problem = parts.joined(separator: ", ")
    }

    /// Which deed each expectation gets, so that as many as possible get one; the order of actions does not matter.
    private static func pairs(
        _ wanted: [BotTest.Expectation], _ deeds: [Deed], fits: (BotTest.Expectation, Deed) -> Bool
    ) -> [Int?] {
        var owner = [Int?](repeating: nil, count: deeds.count)
        func place(_ expectation: Int, _ tried: inout Set<Int>) -> Bool {
            for deed in deeds.indices where !tried.contains(deed) && fits(wanted[expectation], deeds[deed]) {
                tried.insert(deed)
                let isFree = owner[deed].map { place($0, &tried) } ?? true
                if isFree {
                    owner[deed] = expectation
                    return true
                }
            }
            return false
        }
        for expectation in wanted.indices {
            var tried: Set<Int> = []
            _ = place(expectation, &tried)
        }
        var pairs = [Int?](repeating: nil, count: wanted.count)
        for (deed, expectation) in owner.enumerated() { if let expectation { pairs[expectation] = deed } }
        return pairs
    }
}

extension BotTest.Expectation {
    fileprivate func isVerb(of deed: Comparison.Deed) -> Bool { verb == deed.word || verb == deed.plainWord }

    fileprivate func fits(_ deed: Comparison.Deed, _ directory: Directory) -> Bool {
        guard isVerb(of: deed), deed.failure == nil else { return false }
        if let text, !(deed.text ?? "").has(text) { return false }
        if let channel, !deed.isIn(channel, directory) { return false }
        if let user, deed.user != user, deed.user.map({ "\(deed.place.account):\($0)" }) != user {
            return false
        }
        if let mentions, mentions.sorted() != deed.mentions.sorted() { return false }
        if let rule, rule != deed.rule { return false }
        if let isInThread, isInThread != deed.isInThread { return false }
        if let isSilent, isSilent != deed.isSilent { return false }
        if let time, time != deed.time { return false }
        if let points, points != deed.points { return false }
        if isBurst, !deed.isBurst { return false }
        return true
    }

    fileprivate func inWords(isSingle: Bool) -> String {
        var words = isBurst ? "\(verb) burst" : verb
        if let points { words += " \(points)" }
        if let time { words += time == .zero ? " none" : " for \(time.short)" }
        if let channel { words += " to \(channel)" }
        if let user { words += verb == "dm" ? " to \(user)" : " of \(user)" }
        if let rule { words += " by \(rule)" }
        if let mentions {
            words += mentions.isEmpty ? " calling nobody" : " calling \(mentions.joined(separator: ", "))"
        }
        if let isInThread { words += isInThread ? " in a thread" : " in no thread" }
        if let isSilent { words += isSilent ? " silently" : " not silently" }
        if let text { words += ": \(text)" }
        return words
    }
}

extension Comparison.Deed {
    fileprivate func isIn(_ channel: String, _ directory: Directory) -> Bool {
        directory.places(named: channel).contains(place) || place.channel == channel
            || place.description == channel
    }

    fileprivate func inWords(_ directory: Directory) -> String {
        var words = word
        let name = directory.channels.first { $0.value[place.account] == place.channel }?.key ?? place.channel
        switch word {
        case "dm": words += " to \(user ?? "nobody")"
        case "delete", "react":
            if isBurst { words += " burst" }
            if let user { words += " of \(user)" }
            words += " in \(name)"
        case "strike", "permit":
            if let points { words += " \(points)" }
            if let user { words += " of \(user)" }
            if let time { words += " for \(time.short)" }
        case "enter_mode", "leave_mode": break
        case "mute", "unmute", "kick", "ban", "unban", "lock", "unlock", "slowmode":
            if let time { words += time == .zero ? " none" : " for \(time.short)" }
            if let user { words += " of \(user)" }
            words += " in \(name)"
        default: words += " to \(name)"
        }
        if !mentions.isEmpty { words += " calling \(mentions.joined(separator: ", "))" }
        if let failure { words += " (not done: \(failure))" }
        if let text { words += ": \(text)" }
        return words
    }
}

extension String {
    /// Whether it contains a text. The invisible character by which nobody is called counts only where the text has it.
    fileprivate func has(_ text: String) -> Bool {
        let text = text.trimmingNewlines
        return contains(text) || !text.contains("\u{200B}") && replacing("\u{200B}", with: "").contains(text)
    }

    private var trimmingNewlines: String {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}
