/// Runs `children` beside `body`. When the body is over, `finish` tells the children to come to their end, and they are
/// waited for. Whoever throws takes all the others along.
func scope(
    _ children: [@Sendable () async throws -> Void],
    finish: @escaping @Sendable () async -> Void,
    body: @escaping @Sendable () async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
        start(children, beside: body, in: &group)
        while let isBody = try await group.next() {
            if isBody { await finish() }
        }
    }
}

/// The same for children that end only when they are cancelled.
func scope(
    cancelling children: [@Sendable () async throws -> Void],
    body: @escaping @Sendable () async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
        start(children, beside: body, in: &group)
        while let isBody = try await group.next(), !isBody {}
        group.cancelAll()
        // Their complaint that they were cancelled is no news.
        while let result = await group.nextResult() { _ = result }
    }
}

/// Starts all of them; the body is the one that answers true.
private func start(
    _ children: [@Sendable () async throws -> Void], beside body: @escaping @Sendable () async throws -> Void,
    in group: inout ThrowingTaskGroup<Bool, any Error>
) {
    for child in children {
        group.addTask {
            try await child()
            return false
        }
    }
    group.addTask {
        try await body()
        return true
    }
}
