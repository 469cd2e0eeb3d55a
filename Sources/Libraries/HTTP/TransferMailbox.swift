import CCurl
import CSockets

/// How tasks reach the thread that talks to libcurl.
final class TransferMailbox: Sendable {
    enum Letter: Sendable {
        case start(TransferOrder)
        case cancel(UInt64)
    }

    private let state = Guarded(State())

    fileprivate struct State {
        var letters: [Letter] = []
        var lastID: UInt64 = 0
        var hasThread = false
        var isStopping = false
        var isOver = false
        /// To wake the thread; nil while there is none to wake.
        var multi: Multi?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Only `curl_multi_wakeup`, which any thread may call, is called from elsewhere.
    fileprivate struct Multi: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    func nextID() -> UInt64 {
        state.with { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func put(_ letter: Letter) {
        enum Next { case nothing, refuse, startThread }
        let next: Next = state.with { state in
            if state.isStopping { return .refuse }
            state.letters.append(letter)
            if let multi = state.multi { curl_multi_wakeup(multi.pointer) }
            if state.hasThread { return .nothing }
            state.hasThread = true
            return .startThread
        }
        switch next {
        case .nothing: break
        case .refuse:
            if case .start(let order) = letter { order.finish(.failure(order.cancelled)) }
        case .startThread:
            if !start() { fail() }
        }
    }

    private func start() -> Bool {
        let context = Unmanaged.passRetained(self)
        let status = sockets_start_thread(
            "requests",
            { context in
                guard let context else { return }
                let mailbox = Unmanaged<TransferMailbox>.fromOpaque(context).takeRetainedValue()
                if let loop = TransferLoop(mailbox: mailbox) { loop.run() } else { mailbox.fail() }
            }, context.toOpaque())
        if status != 0 { context.release() }
        return status == 0
    }

    /// There is no thread after all; the next request tries again.
    private func fail() {
        let letters = state.with { state in
            state.hasThread = false
            let letters = state.letters
            state.letters = []
            return letters
        }
        for case .start(let order) in letters {
            let text = "\(order.host): the system has no more threads or descriptors"
            order.finish(.failure(HTTPError(.unreachable, text)))
        }
        if state.with({ $0.isStopping }) { _ = endIfEmpty() }
    }

    /// The thread waits there from now on, or no more.
    func wake(at multi: UnsafeMutableRawPointer?) {
        state.with { $0.multi = multi.map { Multi(pointer: $0) } }
    }

    func drain() -> (letters: [Letter], isStopping: Bool) {
        state.with { state in
            let letters = state.letters
            state.letters = []
            return (letters, state.isStopping)
        }
    }

    func stop() {
        let waiters = state.with { state -> [CheckedContinuation<Void, Never>] in
            state.isStopping = true
            if let multi = state.multi { curl_multi_wakeup(multi.pointer) }
            guard !state.hasThread else { return [] }
            return state.end()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The thread's last act. False when letters came in meanwhile.
    func endIfEmpty() -> Bool {
        let waiters = state.with { state -> [CheckedContinuation<Void, Never>]? in
            state.letters.isEmpty ? state.end() : nil
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume() }
        return true
    }

    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.with { state in
                if !state.isOver { state.waiters.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }
}

extension TransferMailbox.State {
    fileprivate mutating func end() -> [CheckedContinuation<Void, Never>] {
        isOver = true
        let all = waiters
        waiters = []
        return all
    }
}
