/// What every chat service promises to the rest of steward, as tests of one service:
///
///     @Test(arguments: ChatServiceContract.allCases)
///     func `the contract`(_ promise: ChatServiceContract) async throws {
///         let stage = try await SlackStage()
///         try await promise.check(on: stage)
///     }
public enum ChatServiceContract: String, Sendable, CaseIterable {
    case tellsOfItself = "says who it is, and that it is up"
    case keepsOrder = "messages come once, in order, each with its cursor"
    case leavesHistory = "what was said before the first log-in is not told"
    case knowsItself = "its own messages are told, as its own"
    case reconnects = "after a cut it reads on where it was, with nothing missing and nothing twice"
    case resumes = "after a restart it reads on from the cursors"
    case refreshes = "an expired token is replaced, and nobody notices"
    case honoursLimits = "a limit is waited for, or told with its time"
    case fallsBehind = "when steward is behind it drops events, acts all the same, and catches up"
    case staysForTheEnd = "when steward is stopping it takes no events and still acts"
    case actsOnce = "an action under the same key is found again, and one that never was is not"
    case saysUnreachable = "not connected, it sends nothing and says so"
    case ends = "it ends when it is cancelled"

    /// Throws `ContractBroken` where the service does otherwise, and whatever the stage throws. Wants a stage of its own.
    public func check(on stage: some ChatServiceStage, patience: Duration = .seconds(30)) async throws {
        let trial = ServiceTrial(stage: stage, promise: rawValue, patience: patience)
        do {
            switch self {
            case .tellsOfItself: try await trial.tellsOfItself()
            case .keepsOrder: try await trial.keepsOrder()
            case .leavesHistory: try await trial.leavesHistory()
            case .knowsItself: try await trial.knowsItself()
            case .reconnects: try await trial.reconnects()
            case .resumes: try await trial.resumes()
            case .refreshes: try await trial.refreshes()
            case .honoursLimits: try await trial.honoursLimits()
            case .fallsBehind: try await trial.fallsBehind()
            case .staysForTheEnd: try await trial.staysForTheEnd()
            case .actsOnce: try await trial.actsOnce()
            case .saysUnreachable: try await trial.saysUnreachable()
            case .ends: try await trial.ends()
            }
        } catch {
            await trial.logOut()
            throw error
        }
        await trial.logOut()
    }
}

extension ChatServiceContract: CustomStringConvertible {
    /// The promise, as a sentence.
    public var description: String { rawValue }
}

/// What a service did other than it should.
public struct ContractBroken: Error, CustomStringConvertible {
    /// The promise, and what was seen instead.
    public let description: String
}
