package import Chat

/// What `config.yaml` says about the engine, and what only tests change.
package struct EngineSettings: Sendable {
    /// What one event may cause.
    package var limits = Turn.Limits()
    /// So many events of one account wait at most; more are read again later.
    package var inboxLimit = 10_000
    /// So many actions of one account wait at most.
    package var outboxLimit = 10_000
    /// So many events go into one commit at most.
    package var batchLimit = 1000
    /// For how long events that were decided stay in the store, for replays; nil: they do not.
    package var keepEvents: Duration?
    /// Whether texts are kept with cases, and how; nil: they are not.
    package var evidence: EvidenceKeeping?
    /// So many channels of one account are served side by side.
    package var channelsAtOnce = 8
    /// So many deletions of one channel are under way at once.
    package var deletionsAtOnce = 8
    /// So many users and channels stay in memory.
    package var rowsInMemory = 120_000
    /// How long stopping may take; what is not sent by then stays in the journal.
    package var drainLimit = Duration.seconds(20)
    /// An action that takes longer has an unknown outcome.
    package var actionLimit = Duration.seconds(60)
    /// How long after an unknown outcome it is looked for, so that the service had time to do it.
    package var lookUpAfter = Duration.seconds(2)
    /// An action is tried so often when the service asks for pauses or leaves its outcome open.
    package var triesLimit = 20
    /// A connected account that hears nothing for so long is restarted.
    package var deafAfter = Duration.seconds(120)
    /// When loops that stand still for so long count as stuck.
    package var stuckAfter = Duration.seconds(60)
    /// A store that cannot be written for so long ends the program.
    package var storeLimit = Duration.seconds(600)
    /// A holder that does not renew its lease for so long has lost it.
    package var lease = Duration.seconds(15)
    /// Waits between tries of everything that is tried again.
    package var backoff = Backoff()
    /// The same of the store, which nobody else wears out by trying: events wait for it, and go on soon after it works.
    package var storeBackoff = Backoff(first: .milliseconds(500), most: .seconds(3))
    /// Who we are to other stewards on the same store.
    package var holder = "steward"

    package init() {}
}

/// An account of `config.yaml` with the service it is on.
package struct EngineAccount: Sendable {
    package var name: String
    package var service: any ChatService
    /// How fast actions may go out, beside what the service asks for.
    package var rate: RateLimit?

    package init(name: String, service: any ChatService, rate: RateLimit? = nil) {
        self.name = name
        self.service = service
        self.rate = rate
    }
}
