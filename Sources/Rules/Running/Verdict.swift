internal import Chat

/// What becomes of a rule when it is asked about an event.
enum Verdict: Equatable {
    case matches
    case disabled, otherEvent, otherChannel
    case ownMessage, bot, exempt, stale
    /// It is called by a word, and not by this message.
    case notCalled
    /// It was called, and what stands behind the word does not fit; nothing is said to it.
    case wrongArguments
    case conditionFails
    /// There was no time to look through all of the text.
    case undecided
    case coolsDown(until: Timestamp), onceBefore
    /// The event has its answer.
    case answered(by: String)
    /// The message was answered before it was edited.
    case answeredBefore
    case groupAnswered(by: String)
    /// An earlier rule ended the stage.
    case notAsked(after: String)
}
