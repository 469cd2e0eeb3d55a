internal import Matching

/// How long an event's text may be looked through.
struct ReadingTime {
    /// From so many bytes on a text is timed.
    private static let longText = 2_000

    /// How long this thread may compute for what the conditions of one event look for in its text.
    var budget = Duration.milliseconds(50)
    /// What is left of that for the next stage.
    private var left = Duration.zero
    /// The thread's time from which on nothing more is looked for; nil for a short text, which cannot take that long.
    private(set) var deadline: Duration?

    /// Whether the event's time is used up.
    var isOver: Bool { deadline.map { ThreadTime.now >= $0 } ?? false }

    /// Nothing is timed until a long text comes.
    mutating func begin() { deadline = nil }

    mutating func begin(_ text: String) {
        if text.utf8.count > Self.longText { deadline = ThreadTime.now + budget }
    }

    /// A stage is over.
    mutating func pause() {
        if let deadline { left = max(.zero, deadline - ThreadTime.now) }
    }

    /// The next stage goes on with the same text.
    mutating func goOn() {
        if deadline != nil { deadline = ThreadTime.now + left }
    }
}
