/// An account on a chat service: reads its events and does what actions ask.
public protocol ChatService: Sendable {
    /// Logs in and reads events until cancelled or broken for good. It reconnects by itself; what it throws is final
    /// for this run and says why.
    func run(_ inbox: any Inbox) async throws

    /// Does one action. Safe to call at any time; `.unreachable` while not connected.
    func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt

    /// Looks whether an action whose outcome is unknown was done after all, from `since` on; nil when it was not.
    func find(_ action: ChatAction, key: ActionKey, since: Timestamp) async throws(ChatServiceError)
        -> Receipt?

    /// What this service can do, so that a rule it could not carry out is refused beforehand.
    var abilities: Abilities { get }

    /// What we may do in each channel we are in, once connected; nothing where the service does not say.
    func rights() async -> [ChannelRights]

    /// Of `abilities` those actions that we may not do in that channel, as far as that is known now. Asked while an
    /// event is decided, so it answers at once. Who may not mute, but delete, is given steward's own mute.
    func denied(in channel: ChannelID) -> Set<String>
}

extension ChatService {
    /// None, for services that do not say.
    public func rights() async -> [ChannelRights] { [] }
    /// None, for services that do not say.
    public func denied(in channel: ChannelID) -> Set<String> { [] }
}

/// Where a service puts what it read.
public protocol Inbox: Sendable {
    /// Who we are; nothing may be delivered before.
    func identified(as user: UserID, in realm: Realm) async

    /// How far each stream was decided, by the stream's text: where to read on.
    func cursors(of realm: Realm) async -> [String: Position]

    /// Tells of streams that are read for the first time, and from where on: what comes after is new, what was before is
    /// history. Streams that have a cursor already keep it. Returns once that is durable; read no events before, or
    /// those of a first minute could be taken for history after a crash.
    func begin(_ streams: [Cursor]) async

    /// Hands over events in order; never waits for handlers.
    func deliver(_ events: [ChatEvent]) async -> Taken

    /// Something was read, if only a ping: the connection lives.
    func heard()

    /// For logs, `STATUS=` and readiness.
    func report(_ status: ServiceStatus)
}

extension Inbox {
    /// An inbox that keeps nothing has nothing to note.
    public func begin(_ streams: [Cursor]) async {}
}

/// The answer to a delivery.
public enum Taken: Sendable {
    /// All of them are steward's now.
    case taken
    /// Full: none of these events was taken. Keep reading the socket, drop events, and read the streams again from
    /// their cursors a moment later.
    case behind
    /// Steward is stopping: none was taken, and no more will be.
    case closed
}

/// How an account stands with its service. `steward status`, `STATUS=` of systemd and the health check show the last one
/// that was reported; reasons are for people, and hold no secrets.
public enum ServiceStatus: Sendable, Equatable {
    /// Trying, or logged in and still finding out what channels there are.
    case connecting
    /// Logged in and complete: events come, and actions go.
    case up
    /// Not connected; it is being tried again.
    case down(reason: String)
    /// Repeating cannot help; somebody has to act.
    case failed(reason: String)
}
