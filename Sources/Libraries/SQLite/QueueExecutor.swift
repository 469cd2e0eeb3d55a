internal import Dispatch

/// A dispatch queue as the executor of actors, so that what they wait for stops nobody else. (`DispatchSerialQueue` is
/// not to be had on Linux.)
///
/// A task that prefers it, too, goes on there whatever it waited for. Otherwise it would wake one of Swift's threads first,
/// only to be sent on from there.
package final class QueueExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
