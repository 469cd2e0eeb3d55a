package import Chat

extension Turn {
    /// What came of an event.
    package struct Outcome: Sendable {
        /// A guard took the message away.
        package var removed = false
        package var answers = 0
        package var isStale = false
        /// It was a continuation that nobody owns any more.
        package var isOrphan = false
        private var parts: Parts?

        /// Nearly always nothing comes of an event: then there are no parts, and handing it on costs nothing.
        ///
        /// `@unchecked Sendable`: it is changed only by the one outcome that refers to it.
        private final class Parts: @unchecked Sendable {
            var actions: [OpenAction] = []
            var changes: [MemoryChange] = []
            var later: [PendingContinuation] = []
            var matched: [String] = []
            var notes: [Decision.Note] = []
            var failures: [Failure] = []
            var silenced: [LoopGuard.Silenced] = []
            var withheld: [Ceilings.Kind: Int] = [:]
            var held: Punishment.Kind?
            var filed: [Filed] = []
            var undone: [String] = []
            var paths: Set<String> = []

            init() {}

            init(copying other: Parts) {
                actions = other.actions
                changes = other.changes
                later = other.later
                matched = other.matched
                notes = other.notes
                failures = other.failures
                silenced = other.silenced
                withheld = other.withheld
                held = other.held
                filed = other.filed
                undone = other.undone
                paths = other.paths
            }
        }

        private var changing: Parts {
            mutating get {
                if parts != nil, isKnownUniquelyReferenced(&parts), let parts { return parts }
                let own = parts.map { Parts(copying: $0) } ?? Parts()
                parts = own
                return own
            }
        }

        /// Whether there is anything but what is said of the whole.
        var isEmpty: Bool { parts == nil }

        package var actions: [OpenAction] {
            get { parts?.actions ?? [] }
            _modify { yield &changing.actions }
        }

        /// What they remember.
        package var changes: [MemoryChange] {
            get { parts?.changes ?? [] }
            _modify { yield &changing.changes }
        }

        package var later: [PendingContinuation] {
            get { parts?.later ?? [] }
            _modify { yield &changing.later }
        }

        package var matched: [String] {
            get { parts?.matched ?? [] }
            _modify { yield &changing.matched }
        }

        /// What handlers write into the log.
        package var notes: [Decision.Note] {
            get { parts?.notes ?? [] }
            _modify { yield &changing.notes }
        }

        /// Handlers that threw, or took too long.
        package var failures: [Failure] {
            get { parts?.failures ?? [] }
            _modify { yield &changing.failures }
        }

        package var silenced: [LoopGuard.Silenced] {
            get { parts?.silenced ?? [] }
            _modify { yield &changing.silenced }
        }

        /// Actions over a ceiling.
        package var withheld: [Ceilings.Kind: Int] {
            get { parts?.withheld ?? [:] }
            _modify { yield &changing.withheld }
        }

        /// What somebody did who is punished for something, and steward undid.
        package var held: Punishment.Kind? {
            get { parts?.held }
            _modify { yield &changing.held }
        }

        /// The cases that it makes.
        package var filed: [Filed] {
            get { parts?.filed ?? [] }
            _modify { yield &changing.filed }
        }

        /// The cases that are to be undone.
        package var undone: [String] {
            get { parts?.undone ?? [] }
            _modify { yield &changing.undone }
        }

        /// Rules and the paths of their actions so far.
        var paths: Set<String> {
            get { parts?.paths ?? [] }
            _modify { yield &changing.paths }
        }
    }

    /// A charge that has become a case.
    package struct Filed: Sendable {
        package var name: String
        package var charge: Decision.Charge
        /// What is done because of it.
        package var actions: [(key: ActionKey, action: ChatAction)]
        /// The ledgers that something was put into.
        package var strikes: [Case.Strike]
    }
}
