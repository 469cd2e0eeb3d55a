internal import Chat
internal import Matching
internal import Unicode

/// What one lane has read of the current event; it keeps its room from event to event.
struct LaneState {
    private(set) var folded = FoldedText()
    private(set) var scan = ScanScratch()
    /// What expressions see: the text without what is skipped.
    private(set) var text = ""
    /// The thread's time from which on no further expression is tried.
    var deadline: Duration? {
        get { scan.deadline }
        set { scan.deadline = newValue }
    }
    /// Whether all that was looked for in the text was looked for.
    var isComplete: Bool { scan.isComplete }
    private var hasWords = false
    /// From the first byte that is not blank to behind the last, once it was asked for.
    private var filled: Range<Int>?
    private var knownWords: [NearWord] = []

    mutating func read(_ original: String, _ marks: TextMarks, _ lane: Lane) {
        var text = original
        var marks = marks
        if let kept = SkippedText.removingControls(from: text, marks: marks) {
            text = kept
            marks = TextMarks(of: text)
        }
        if !lane.name.skip.isEmpty,
            let kept = SkippedText.removing(lane.name.skip, from: text, marks: marks)
        {
            text = kept
            marks = TextMarks(of: text)
        }
        folded.fold(text, to: lane.name.level, marks: marks)
        hasWords = false
        filled = nil
        lane.patterns.scan(folded, of: text, using: &scan)
        self.text = text
    }

    /// The words of the folded text.
    var words: [NearWord] { hasWords ? knownWords : Self.words(of: folded.bytes) }

    static func words(of bytes: [UInt8]) -> [NearWord] {
        NearWord.words(of: String(decoding: bytes, as: UTF8.self)).map { NearWord($0) }
    }

    /// Keeps the words for all conditions that want them.
    mutating func takeWords() {
        if hasWords { return }
        knownWords = Self.words(of: folded.bytes)
        hasWords = true
    }

    /// Whether a place of the folded text is where the target wants it.
    mutating func stands(_ range: Range<Int>, _ anchor: Lane.Target.Anchor) -> Bool {
        if anchor == .none { return true }
        let filled = self.filled ?? Self.filled(folded.bytes)
        self.filled = filled
        let isFirst = range.lowerBound <= filled.lowerBound
        let isLast = range.upperBound >= filled.upperBound
        return anchor == .start ? isFirst : anchor == .end ? isLast : isFirst && isLast
    }

    private static func filled(_ bytes: [UInt8]) -> Range<Int> {
        let isBlank = { (byte: UInt8) in byte == 32 || byte == SkippedText.separator }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return bytes.count..<bytes.count }
        return first..<last + 1
    }
}

extension String {
    fileprivate var apart: String { String(map { $0 == "." || $0 == "_" || $0 == "-" ? " " : $0 }) }
}

extension [String] {
    fileprivate var uniquePair: [String] { self[0] == self[1] ? [self[0]] : self }
}

extension BotText.Field {
    /// The texts of an event that the field names.
    func texts(_ event: ChatEvent) -> [String] {
        switch self {
        case .body: event.message.map { [$0.text] } ?? []
        case .userName: event.member.map { [$0.name] } ?? []
        case .attachmentTypes: event.message?.attachments.map(\.contentType) ?? []
        case .userID: event.member.map { [$0.user.text] } ?? []
        case .channelTitle: event.channel.map { [$0.title] } ?? []
        // A dot or an underscore joins words; in the name of a file it parts them.
        case .attachmentNames:
            event.message?.attachments.flatMap { [$0.name, $0.name.apart].uniquePair } ?? []
        }
    }
}
