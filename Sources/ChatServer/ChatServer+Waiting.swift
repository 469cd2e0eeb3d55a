internal import Chat

extension ChatServer {
    /// Returns once a channel's messages are as wanted, or the task is cancelled. For tests and programs that have the
    /// server in them.
    package func wait(in channel: SID, until holds: @escaping @Sendable ([Message]) -> Bool) async {
        let watcher = Watcher { holds(self.messages(in: channel)) }
        hall.take { _ in { audience in audience.enter(watcher, hearsAll: true) } }
        await watcher.wait()
        hall.take { _ in { audience in audience.leave(watcher) } }
    }
}

/// Listens to all events until what it waits for has come.
private final class Watcher: Listener {
    private enum State {
        case watching
        case waiting(CheckedContinuation<Void, Never>)
        case over
    }

    let identity = ""
    private let holds: @Sendable () -> Bool
    private let state = Locked(State.watching)

    init(_ holds: @escaping @Sendable () -> Bool) {
        self.holds = holds
    }

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if case .over = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isOver { return continuation.resume() }
                look()
            }
        } onCancel: {
            end()
        }
    }

    func hear(_ telling: Telling, version: Int) { look() }
    func hear(_ typing: Typing) {}
    func lose(_ feed: FeedID, version: Int) {}

    private func look() {
        if holds() { end() }
    }

    private func end() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .over }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume()
    }
}
