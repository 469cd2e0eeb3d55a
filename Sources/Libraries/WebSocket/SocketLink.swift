/// What the loop and a socket's users share: what has arrived, what is to be written, who waits, and how it ended.
final class SocketLink: Sendable {
    let key: UInt64
    let limits: SocketLimits
    /// Clients mask what they send.
    let masks: Bool
    private let mailbox: LoopMailbox
    private let state = Guarded(State())

    fileprivate struct State {
        var inbox: [SocketMessage] = []
        var inboxBytes = 0
        /// Encoded frames.
        var outbox: [UInt8] = []
        var readers: [Reader] = []
        var writers: [Writer] = []
        var nextWaiter: UInt64 = 0
        var maskSource = MaskSource()
        var farewell: (code: UInt16, reason: String)?
        var isToBeKilled = false
        /// The loop has stopped reading until the inbox is taken.
        var isPaused = false
        /// The loop knows that it should look here. True until it has taken the socket over.
        var isPoked = true
        var end: WebSocketEnd?
    }

    fileprivate struct Reader {
        let id: UInt64
        let continuation: CheckedContinuation<[SocketMessage]?, any Error>
    }

    fileprivate struct Writer {
        let id: UInt64
        let messages: [SocketMessage]
        let size: Int
        let continuation: CheckedContinuation<WebSocketError?, Never>
    }

    /// What the loop is to do.
    struct Wishes {
        var farewell: (code: UInt16, reason: String)?
        var isToBeKilled: Bool
        var isPaused: Bool
    }

    init(mailbox: LoopMailbox, limits: SocketLimits, masks: Bool) {
        self.mailbox = mailbox
        self.limits = limits
        self.masks = masks
        key = mailbox.nextKey()
    }

    var end: WebSocketEnd? { state.with { $0.end } }

    // MARK: - For the users

    func receive() async throws -> [SocketMessage]? {
        try Task.checkCancellation()
        if let batch = take() { return batch }
        let id = state.with { $0.newWaiter() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enum Outcome { case batch([SocketMessage]), over, cancelled, waits }
                var mustPoke = false
                let outcome: Outcome = state.with { state in
                    // Under the lock, so that a cancellation is seen either here or by the handler below.
                    if Task.isCancelled { return .cancelled }
                    if let batch = state.takeInbox(&mustPoke) { return .batch(batch) }
                    if state.end != nil { return .over }
                    state.readers.append(Reader(id: id, continuation: continuation))
                    return .waits
                }
                if mustPoke { mailbox.put(.poke(key)) }
                switch outcome {
                case .batch(let batch): continuation.resume(returning: batch)
                case .over: continuation.resume(returning: nil)
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .waits: break
                }
            }
        } onCancel: {
            let reader = state.with { state in
                state.readers.firstIndex { $0.id == id }.map { state.readers.remove(at: $0) }
            }
            reader?.continuation.resume(throwing: CancellationError())
        }
    }

    private func take() -> [SocketMessage]? {
        var mustPoke = false
        let batch = state.with { $0.takeInbox(&mustPoke) }
        if mustPoke { mailbox.put(.poke(key)) }
        return batch
    }

    func send(_ messages: [SocketMessage]) async throws(WebSocketError) {
        if messages.isEmpty { return }
        if Task.isCancelled { throw .cancelled }
        let size = Self.size(messages)
        switch queue(messages, size) {
        case .queued: return
        case .closed: throw .closed
        case .full: break
        }
        let id = state.with { $0.newWaiter() }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<WebSocketError?, Never>) in
                enum Outcome { case over(WebSocketError?), waits }
                var mustPoke = false
                let outcome: Outcome = state.with { state in
                    if Task.isCancelled { return .over(.cancelled) }
                    if state.isClosed { return .over(.closed) }
                    if state.takes(size, limits) {
                        state.encode(messages, masks: masks)
                        mustPoke = state.poke()
                        return .over(nil)
                    }
                    state.writers.append(
                        Writer(id: id, messages: messages, size: size, continuation: continuation))
                    return .waits
                }
                if mustPoke { mailbox.put(.poke(key)) }
                if case .over(let error) = outcome { continuation.resume(returning: error) }
            }
        } onCancel: {
            let writer = state.with { state in
                state.writers.firstIndex { $0.id == id }.map { state.writers.remove(at: $0) }
            }
            writer?.continuation.resume(returning: .cancelled)
        }
        if let error { throw error }
    }

    func offer(_ messages: [SocketMessage]) -> Bool {
        queue(messages, Self.size(messages)) == .queued
    }

    private enum Queued { case queued, full, closed }

    private func queue(_ messages: [SocketMessage], _ size: Int) -> Queued {
        var mustPoke = false
        let queued: Queued = state.with { state in
            if state.isClosed { return .closed }
            guard state.takes(size, limits) else { return .full }
            state.encode(messages, masks: masks)
            mustPoke = state.poke()
            return .queued
        }
        if mustPoke { mailbox.put(.poke(key)) }
        return queued
    }

    private static func size(_ messages: [SocketMessage]) -> Int {
        messages.reduce(0) { $0 + $1.bytes.count + 14 }
    }

    func close(code: UInt16, reason: String) {
        var mustPoke = false
        let writers = state.with { state -> [Writer] in
            guard !state.isClosed else { return [] }
            state.farewell = (code, reason)
            mustPoke = state.poke()
            return state.takeWriters()
        }
        if mustPoke { mailbox.put(.poke(key)) }
        for writer in writers { writer.continuation.resume(returning: .closed) }
    }

    func kill() {
        let mustPoke = state.with { state in
            guard state.end == nil, !state.isToBeKilled else { return false }
            state.isToBeKilled = true
            return state.poke()
        }
        if mustPoke { mailbox.put(.poke(key)) }
    }

    /// Nobody uses the socket any more. Where the closing handshake has begun it goes on.
    func letGo() {
        if state.with({ $0.farewell == nil }) { kill() }
    }

    // MARK: - For the loop

    /// What users wish; from now on they poke again.
    func wishes() -> Wishes {
        state.with { state in
            state.isPoked = false
            return Wishes(
                farewell: state.farewell, isToBeKilled: state.isToBeKilled, isPaused: state.isPaused)
        }
    }

    /// Hands over what has arrived. True when there is no room for more: then the loop is poked once there is.
    func deliver(_ arrivals: inout Arrivals, dropsWhenFull: Bool) -> Bool {
        guard !arrivals.messages.isEmpty else { return false }
        let messages = arrivals.messages
        let bytes = arrivals.bytes
        arrivals.messages = []
        arrivals.bytes = 0
        var reader: Reader?
        let isFull = state.with { state in
            guard state.end == nil else { return false }
            if !state.readers.isEmpty {
                reader = state.readers.removeFirst()
                return false
            }
            if dropsWhenFull, state.isFull(limits) { return false }
            if state.inbox.isEmpty { state.inbox = messages } else { state.inbox += messages }
            state.inboxBytes += bytes
            guard !dropsWhenFull, state.isFull(limits) else { return false }
            state.isPaused = true
            return true
        }
        reader?.continuation.resume(returning: messages)
        return isFull
    }

    /// Exchanges the empty buffer for all that is to be written. False when there is nothing.
    func takeOutbox(_ buffer: inout [UInt8]) -> Bool {
        var served: [Writer] = []
        let isFilled = state.with { state in
            guard !state.outbox.isEmpty else { return false }
            swap(&buffer, &state.outbox)
            while let first = state.writers.first,
                state.outbox.isEmpty || state.outbox.count + first.size <= limits.outbox
            {
                state.encode(first.messages, masks: masks)
                served.append(state.writers.removeFirst())
            }
            return true
        }
        for writer in served { writer.continuation.resume(returning: nil) }
        return isFilled
    }

    /// The socket is over; whoever waits is answered. The first end counts.
    func finish(_ end: WebSocketEnd) {
        let (readers, writers) = state.with { state -> ([Reader], [Writer]) in
            guard state.end == nil else { return ([], []) }
            state.end = end
            state.outbox = []
            let readers = state.readers
            state.readers = []
            return (readers, state.takeWriters())
        }
        for reader in readers { reader.continuation.resume(returning: nil) }
        for writer in writers { writer.continuation.resume(returning: .closed) }
    }
}

extension SocketLink.State {
    fileprivate var isClosed: Bool { end != nil || farewell != nil || isToBeKilled }

    fileprivate func isFull(_ limits: SocketLimits) -> Bool {
        inbox.count >= limits.inboxMessages || inboxBytes >= limits.inboxBytes
    }

    /// One message may be larger than the bound, when nothing else is queued.
    fileprivate func takes(_ size: Int, _ limits: SocketLimits) -> Bool {
        writers.isEmpty && (outbox.isEmpty || outbox.count + size <= limits.outbox)
    }

    fileprivate mutating func newWaiter() -> UInt64 {
        nextWaiter += 1
        return nextWaiter
    }

    fileprivate mutating func poke() -> Bool {
        if isPoked { return false }
        isPoked = true
        return true
    }

    fileprivate mutating func takeInbox(_ mustPoke: inout Bool) -> [SocketMessage]? {
        guard !inbox.isEmpty else { return nil }
        let batch = inbox
        inbox = []
        inboxBytes = 0
        if isPaused {
            isPaused = false
            mustPoke = poke()
        }
        return batch
    }

    fileprivate mutating func takeWriters() -> [SocketLink.Writer] {
        let all = writers
        writers = []
        return all
    }

    fileprivate mutating func encode(_ messages: [SocketMessage], masks: Bool) {
        for message in messages {
            let mask = masks ? maskSource.next() : nil
            switch message {
            case .text(let bytes): appendFrame(.text, bytes, mask: mask, to: &outbox)
            case .binary(let bytes): appendFrame(.binary, bytes, mask: mask, to: &outbox)
            }
        }
    }
}

/// Masking keys nobody can guess, read from the system's random source by the hundred.
struct MaskSource {
    private var keys: [UInt32] = []

    mutating func next() -> UInt32 {
        if keys.isEmpty {
            var random = SystemRandomNumberGenerator()
            for _ in 0..<64 {
                let word = random.next()
                keys.append(UInt32(truncatingIfNeeded: word))
                keys.append(UInt32(truncatingIfNeeded: word >> 32))
            }
        }
        return keys.popLast() ?? 0
    }
}
