internal import Chat

extension Turn {
    /// An event half way through its handlers.
    package struct Progress: Sendable {
        var situation: Situation
        /// The event's kind, as handlers name what they want.
        let kind: UInt32
        var queue: [HandlerTable.Entry]
        var index = 0
        /// It goes to those who put it off, whatever their stage.
        var isResumed = false
        var isPrepared = false
        package var outcome = Outcome()
    }
}

extension Turn.Progress {
    /// Whether the event goes to that handler.
    func asks(_ entry: HandlerTable.Entry) -> Bool {
        guard entry.wants & kind != 0 else { return false }
        if isResumed { return true }
        return switch entry.stage {
        case .guard: !outcome.removed
        case .answer: !outcome.removed && !situation.isStale
        case .observe: true
        }
    }
}
