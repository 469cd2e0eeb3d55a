internal import Chat

/// What waits to be sent to one client, in order.
final class Outbox: Sendable {
    enum Item: Sendable {
        /// A frame, ready.
        case frame([UInt8])
        /// Its frame is made when it is sent; the payload is shared by all who are told.
        case notification(TwilioNotification)
    }

    private struct State {
        var items: [Item] = []
        var bytes = 0
        var reader: CheckedContinuation<Void, Never>?
        var writers: [CheckedContinuation<Void, Never>] = []
        var isClosed = false
    }

    private let state = Locked(State())
    /// Above this, requests wait.
    private let high = 4 * 1024 * 1024
    /// Above this, a client that does not read is given up.
    private let bound = 256 * 1024 * 1024

    /// False when the client is hopelessly behind.
    @discardableResult
    func add(_ item: Item) -> Bool {
        let (reader, fits): (CheckedContinuation<Void, Never>?, Bool) = state.withLock { state in
            guard !state.isClosed else { return (nil, true) }
            state.items.append(item)
            state.bytes += item.size
            defer { state.reader = nil }
            return (state.reader, state.bytes <= bound)
        }
        reader?.resume()
        return fits
    }

    /// All that waits, at least one; nil when it is over.
    func take() async -> [Item]? {
        while true {
            let (items, writers, isClosed) = state.withLock { state in
                defer {
                    state.items.removeAll()
                    state.writers.removeAll()
                    state.bytes = 0
                }
                return (state.items, state.writers, state.isClosed)
            }
            for writer in writers { writer.resume() }
            if !items.isEmpty { return items }
            if isClosed { return nil }
            await withCheckedContinuation { continuation in
                let isNeeded = state.withLock { state in
                    if state.items.isEmpty, !state.isClosed {
                        state.reader = continuation
                        return false
                    }
                    return true
                }
                if isNeeded { continuation.resume() }
            }
        }
    }

    /// Waits while much is waiting to be sent.
    func room() async {
        guard state.withLock({ $0.bytes > high && !$0.isClosed }) else { return }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.bytes > high, !state.isClosed {
                    state.writers.append(continuation)
                    return false
                }
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Nothing more is taken; what waits is still given.
    func finish() {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.isClosed = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Nothing more is taken or given.
    func close() {
        let (reader, writers) = state.withLock { state in
            state.isClosed = true
            state.items = []
            defer {
                state.reader = nil
                state.writers = []
            }
            return (state.reader, state.writers)
        }
        reader?.resume()
        for writer in writers { writer.resume() }
    }
}

extension Outbox.Item {
    fileprivate var size: Int {
        switch self {
        case .frame(let bytes): bytes.count
        case .notification(let notification): notification.payload.count + 256
        }
    }
}
