/// Does all of these until the first ends or throws; then the others are cancelled, and waited for after `stopping`.
func untilOneEnds(
    _ tasks: [@Sendable () async throws -> Void], stopping stop: () -> Void = {}
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in tasks { group.addTask { try await task() } }
        defer {
            group.cancelAll()
            stop()
        }
        try await group.next()
    }
}
