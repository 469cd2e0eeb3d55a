internal import Chat

/// The numbers behind `EngineMetrics`, written by several parts.
final class Counters: Sendable {
    private let metrics = Locked(EngineMetrics())

    var snapshot: EngineMetrics { metrics.withLock { $0 } }

    func count(_ result: EngineMetrics.Result) {
        metrics.withLock { $0.actions[result, default: 0] += 1 }
    }

    func change(_ body: (inout EngineMetrics) -> Void) {
        metrics.withLock { body(&$0) }
    }
}
