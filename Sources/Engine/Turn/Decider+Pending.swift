internal import Chat

extension Decider {
    /// What the next commit makes durable, and what follows it.
    struct Pending {
        var changes: [RowChange] = []
        var actions: [OpenAction] = []
        var later: [PendingContinuation] = []
        var decided: [(Delivery, count: Int)] = []
        var began: [Flag] = []
        /// To be kept in the store.
        var events: [ChatEvent] = []
        var metrics = TurnCounts()
    }

    struct TurnCounts {
        var own = 0
        var duplicate = 0
        var orphan = 0
        var decided = 0
        var stale = 0
        var removed = 0
        var answers = 0
        var silenced = 0
        var withheld: [Ceilings.Kind: Int] = [:]
        var held: [Punishment.Kind: Int] = [:]
        var matched: [String: Int] = [:]
        var failures: [String: Int] = [:]
    }
}
