import Chat

/// Services at work until all are stopped.
final class RunningServices: Sendable {
    private let tasks = Locked<[Task<Void, Never>]>([])

    /// Runs one; its inbox keeps why it ended by itself.
    func start(_ service: any ChatService, _ inbox: TestInbox) {
        let task = Task {
            do {
                try await service.run(inbox)
            } catch {
                inbox.change { $0.failure = "\(error)" }
            }
        }
        tasks.withLock { $0.append(task) }
    }

    func stop() async {
        let tasks = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

/// A service at work as long as the body takes; `end` clears away what both needed.
func running(
    _ service: any ChatService, _ inbox: TestInbox, _ body: () async throws -> Void, end: () async -> Void
) async throws {
    let services = RunningServices()
    services.start(service, inbox)
    try await ending {
        try await body()
    } with: {
        await services.stop()
        await end()
    }
}

/// Runs the body, and then `end` whatever came of it.
func ending(_ body: () async throws -> Void, with end: () async -> Void) async throws {
    let result: Result<Void, any Error>
    do {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    await end()
    try result.get()
}
