/// Rules and most plugins: asked about each event, one at a time. A handler never waits and performs nothing; it takes
/// microseconds.
public protocol EventHandler: Sendable {
    /// Unique among handlers; part of what identifies their actions and memory.
    var name: String { get }
    /// When it is asked; the same for as long as it runs.
    var stage: Stage { get }
    /// What it is asked about; the same for as long as it runs.
    var needs: Needs { get }

    /// Throwing is logged with the event and this handler's name; the other handlers go on.
    func decide(_ event: ChatEvent, in situation: Situation) throws -> Decision

    /// Whether a continuation of that owner comes back to this handler.
    func resumes(owner: String) -> Bool
}

extension EventHandler {
    /// Every event, and no history.
    public var needs: Needs { Needs() }

    /// What it put off itself.
    public func resumes(owner: String) -> Bool { owner == name }
}

/// When a handler is asked: guards first, until one removed the message; then answers; observers always.
public enum Stage: Int, Sendable, CaseIterable {
    case `guard`, answer, observe
}

/// What a handler wants to be asked about.
public struct Needs: Sendable {
    /// Nil means every event.
    public var events: Set<EventName>?
    /// Whether it asks memory for the history of a channel.
    public var looksBack: Bool

    /// Every event and no history, unless it says otherwise.
    public init(events: Set<EventName>? = nil, looksBack: Bool = false) {
        self.events = events
        self.looksBack = looksBack
    }
}
