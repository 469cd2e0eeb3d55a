import CSockets
import Glibc

/// How other threads reach the loop. The bell rings once for many letters.
final class LoopMailbox: Sendable {
    enum Letter: Sendable {
        /// A socket to look after.
        case socket(SocketArrival)
        /// A descriptor whose peer may still read our last words: read and forget until it leaves, then close.
        case linger(Int32, until: Double)
        /// Users of this socket wish something, or a listener has room again.
        case poke(UInt64)
        case accept(SocketListener)
        /// Close this listener, then resume.
        case stopAccepting(UInt64, CheckedContinuation<Void, Never>)
        /// Say goodbye to all, and end at this time at the latest.
        case stop(at: Double)
    }

    let bell: Int32
    private let state = Guarded(State())

    private struct State {
        var letters: [Letter] = []
        var hasRung = false
        var isOver = false
        var lastKey: UInt64 = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    init(bell: Int32) {
        self.bell = bell
    }

    deinit { Glibc.close(bell) }

    /// Never 0, never twice the same.
    func nextKey() -> UInt64 {
        state.with { state in
            state.lastKey += 1
            return state.lastKey
        }
    }

    /// False when the loop is over; then the letter was not taken.
    @discardableResult
    func put(_ letter: Letter) -> Bool {
        let (isTaken, mustRing) = state.with { state -> (Bool, Bool) in
            if state.isOver { return (false, false) }
            state.letters.append(letter)
            let mustRing = !state.hasRung
            state.hasRung = true
            return (true, mustRing)
        }
        if mustRing {
            var one: UInt64 = 1
            _ = Glibc.write(bell, &one, 8)
        }
        return isTaken
    }

    /// All letters; empties `emptied` first and leaves its storage for the next ones.
    func drain(_ emptied: inout [Letter]) {
        emptied.removeAll(keepingCapacity: emptied.capacity <= 4_096)
        state.with { state in
            swap(&emptied, &state.letters)
            state.hasRung = false
        }
    }

    /// The loop's last act: no letter is taken from now on. False when letters came in meanwhile.
    func endIfEmpty() -> Bool {
        let waiters = state.with { state -> [CheckedContinuation<Void, Never>]? in
            guard state.letters.isEmpty else { return nil }
            state.isOver = true
            let waiters = state.waiters
            state.waiters = []
            return waiters
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume() }
        return true
    }

    /// Waits until the loop is over.
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
