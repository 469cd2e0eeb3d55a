internal import Chat
internal import Matching
internal import Unicode

/// What one lane has read of the current event; it keeps its room from event to event.
struct LaneState {
    private(set) var folded = FoldedText()
    private(set) var scan = ScanScratch()
    /// What expressions see: the text without what is skipped.
    private(set) var text = ""
    /// When no further expression is tried.
    var deadline: ContinuousClock.Instant? {
        get { scan.deadline }
        set { scan.deadline = newValue }
    }
    private var hasWords = false
    private var knownWords: [NearWord] = []

    mutating func read(_ text: String, _ lane: Lane) {
        self.text = text
        var marks = TextMarks(of: text)
        if let kept = SkippedText.removingControls(from: text, marks: marks) { take(kept, &marks) }
        if let kept = SkippedText.removing(lane.name.skip, from: self.text, marks: marks) {
            take(kept, &marks)
        }
        folded.fold(self.text, to: lane.name.level, marks: marks)
        hasWords = false
        lane.patterns.scan(folded, of: self.text, using: &scan)
    }

    private mutating func take(_ text: String, _ marks: inout TextMarks) {
        self.text = text
        marks = TextMarks(of: text)
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
    func stands(_ range: Range<Int>, _ anchor: Lane.Target.Anchor) -> Bool {
        switch anchor {
        case .none: true
        case .start: isBlank(folded.bytes[..<range.lowerBound])
        case .end: isBlank(folded.bytes[range.upperBound...])
        case .whole: isBlank(folded.bytes[..<range.lowerBound]) && isBlank(folded.bytes[range.upperBound...])
        }
    }

    private func isBlank(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == 32 || $0 == SkippedText.separator }
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
