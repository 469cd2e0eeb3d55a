internal import Chat
internal import Unicode

/// What is counted of one event, each once and only if a rule asks.
struct EventFigures {
    private var counts = TextCounts()
    private var hasCounts = false
    private var known: UInt32 = 0
    private var values = [Int64](repeating: 0, count: Measure.allCases.count)
    /// The links, once they were asked for.
    private var foundLinks: [Link]?
    private var foundCaps: Caps?

    mutating func begin() {
        known = 0
        hasCounts = false
        foundLinks = nil
        foundCaps = nil
    }

    /// A measure of the event, kept for who asks next; nil when the event has nothing of the kind. `lowest`: no smaller
    /// value is of interest, so a look at the size of the text may do.
    mutating func take(
        _ measure: Measure, _ text: String?, _ event: ChatEvent, _ look: EventLook, _ situation: Situation,
        lowest: Int64?
    ) -> Int64? {
        if known & measure.bit != 0 { return values[measure.rawValue] }
        if let text, measure.isBoundBySize {
            if let lowest, text.utf8.count < lowest { return nil }
            switch measure {
            case .links: foundLinks = look.marks.has(.dots) ? LinkFinder.links(in: text) : []
            case .mentions, .everyone: break
            default:
                if !hasCounts {
                    var text = text
                    text.withUTF8 { counts.count($0) }
                    hasCounts = true
                }
            }
            if measure == .capitals, let lowest, counts.capitals >= lowest { foundCaps = Self.caps(text) }
        }
        guard let value = value(of: measure, event, look, situation) else { return nil }
        known |= measure.bit
        values[measure.rawValue] = value
        return value
    }

    /// A measure of the event, whether or not it was taken before.
    func value(of measure: Measure, _ event: ChatEvent, _ look: EventLook, _ situation: Situation) -> Int64? {
        if known & measure.bit != 0 { return values[measure.rawValue] }
        switch measure {
        case .messages: return look.user == nil ? nil : situation.facts.messages
        case .memberFor: return look.user == nil ? nil : situation.memberFor(event)?.milliseconds
        case .away: return look.user == nil ? nil : situation.away(event)?.milliseconds
        case .firstTime: return look.user == nil ? nil : situation.facts.firstSeen == nil ? 1 : 0
        default: break
        }
        guard let text = look.text else { return nil }
        switch measure {
        case .links: return Int64(links(of: look).count(where: \.isSure))
        case .mentions:
            return look.marks.has(.ats) ? Int64(MentionFinder.names(in: text).count) : 0
        case .everyone:
            return MentionFinder.names(in: text).contains(where: MentionFinder.everyone.contains) ? 1 : 0
        case .attachments: return Int64(event.message?.attachments.count ?? 0)
        default: break
        }
        let counts = hasCounts ? counts : TextCounts(text)
        switch measure {
        case .length: return Int64(counts.length(of: text))
        case .lines: return Int64(counts.lines)
        case .emoji: return Int64(counts.emoji(in: text))
        case .marks: return Int64(counts.marks)
        case .marksOnOne: return Int64(counts.marksOnOne)
        case .letters: return Int64(counts.letters)
        case .capitals: return Int64(counts.capitals)
        default: return nil
        }
    }

    func links(of look: EventLook, spelledOut: Bool = false) -> [Link] {
        guard let text = look.text else { return [] }
        if !spelledOut, !look.marks.has(.dots) { return [] }
        if !spelledOut, let foundLinks { return foundLinks }
        return LinkFinder.links(in: text, spelledOut: spelledOut)
    }

    /// The letters that count for `caps`; nil without a text.
    func caps(of look: EventLook) -> Caps? {
        foundCaps ?? look.text.map(Self.caps)
    }

    /// Without links, code, quotes and the names of emotes.
    private static func caps(_ text: String) -> Caps {
        let read = SkippedText.removing([.links, .code, .quotes], from: text) ?? text
        let counts = TextCounts(read.utf8.contains(UInt8(ascii: ":")) ? read.withoutEmotes : read)
        return Caps(letters: counts.letters, capitals: counts.capitals)
    }
}

extension String {
    /// Without `:names:` of emotes.
    fileprivate var withoutEmotes: String {
        var result: [UInt8] = []
        let bytes = Array(utf8)
        var i = 0
        while i < bytes.count {
            guard bytes[i] == UInt8(ascii: ":") else {
                result.append(bytes[i])
                i += 1
                continue
            }
            var end = i + 1
            while end < bytes.count, bytes[end].isInEmote { end += 1 }
            if end < bytes.count, bytes[end] == UInt8(ascii: ":"), end > i + 1 {
                i = end + 1
            } else {
                result.append(bytes[i])
                i += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isInEmote: Bool {
        (self | 32) &- 97 < 26 || self &- 48 < 10 || self == 95 || self == 45 || self == 43
    }
}
