import ChatTesting
import Synapse
import Testing

/// The client of Matrix on a real homeserver.
@Suite(.synapse, .timeLimit(.minutes(3))) struct MatrixKeepsTheContract {
    @Test(arguments: ChatServiceContract.allCases)
    func `on Synapse`(_ promise: ChatServiceContract) async throws {
        try await withMatrix { stage in try await promise.check(on: stage) }
    }
}
