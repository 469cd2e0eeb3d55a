internal import Chat
internal import Crypto
internal import JSON
internal import WebSocket

/// One socket to Sendbird and the commands on it that have no acknowledgement yet.
final class SendbirdConnection: Sendable {
    let socket: WebSocket
    private let waiting: Locked<Waiting>

    private struct Waiting {
        var commands: [String: Command] = [:]
        var count: UInt64 = 0
        var sentAt: Timestamp
        var end: String?
    }

    private struct Command {
        var letters: String
        var number: UInt64
        var deadline: Timestamp
        var continuation: CheckedContinuation<Outcome, Never>
    }

    typealias Outcome = Result<JSON, SendbirdFailure>

    init(_ socket: WebSocket, at now: Timestamp) {
        self.socket = socket
        waiting = Locked(Waiting(sentAt: now))
    }

    /// When a command last left, which the server takes for a ping.
    var sentAt: Timestamp { waiting.withLock { $0.sentAt } }

    /// Sends a command and waits for its acknowledgement: the same letters under the same `id`.
    func ask(
        _ letters: String, _ body: JSONObject, id: String, until deadline: Timestamp, clock: ServiceClock
    ) async throws(SendbirdFailure) -> JSON {
        var body = body
        body["req_id"] = .string(id)
        let bytes = SendbirdCommand.bytes(letters, .object(body))
        while true {
            switch await attempt(letters, bytes, id: id, until: deadline, at: clock.now()) {
            case .success(let answer)?: return answer
            case .failure(let failure)?: throw failure
            case nil:
                // The peer does not keep up; what waits to be written has to leave first.
                guard clock.now() < deadline, (try? await clock.sleep(.milliseconds(10))) != nil else {
                    throw .notConnected("the connection is congested")
                }
            }
        }
    }

    /// Sends a command that is not acknowledged; false when there is no room for it now.
    @discardableResult
    func tell(_ letters: String, _ body: JSON, at now: Timestamp) -> Bool {
        guard socket.offer(.text(SendbirdCommand.bytes(letters, body))) else { return false }
        waiting.withLock { $0.sentAt = now }
        return true
    }

    /// Nil when there is no room for it.
    private func attempt(
        _ letters: String, _ bytes: [UInt8], id: String, until deadline: Timestamp, at now: Timestamp
    ) async -> Outcome? {
        let isFull = Locked(false)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                let failure: SendbirdFailure? = waiting.withLock { waiting in
                    if let end = waiting.end { return .notConnected(end) }
                    if Task.isCancelled { return .notConnected("cancelled") }
                    guard waiting.commands[id] == nil else {
                        return .unknown("the same command waits for its answer already")
                    }
                    // Before it is sent: the answer may be faster than we are.
                    waiting.count += 1
                    waiting.sentAt = now
                    waiting.commands[id] = Command(
                        letters: letters, number: waiting.count, deadline: deadline,
                        continuation: continuation)
                    return nil
                }
                if let failure { return continuation.resume(returning: .failure(failure)) }
                guard !socket.offer(.text(bytes)) else { return }
                isFull.withLock { $0 = socket.end == nil }
                finish(id, .failure(.notConnected("the connection is lost")))
            }
        } onCancel: {
            finish(id, .failure(.unknown("cancelled")))
        }
        return isFull.withLock { $0 } ? nil : outcome
    }

    /// A command with an id has come. True when it settles one of ours: everything else is news.
    func resolve(_ letters: String, id: String, _ outcome: Outcome) -> Bool {
        let done: [Command] = waiting.withLock { waiting in
            guard let command = waiting.commands[id], letters == "EROR" || letters == command.letters else {
                return []
            }
            waiting.commands[id] = nil
            guard letters == "READ" else { return [command] }
            // One such answer settles all that were sent before it.
            let earlier = waiting.commands.filter {
                $0.value.letters == "READ" && $0.value.number < command.number
            }
            for id in earlier.keys { waiting.commands[id] = nil }
            return [command] + earlier.values
        }
        for command in done { command.continuation.resume(returning: outcome) }
        return !done.isEmpty
    }

    /// Ends what has waited for too long. What became of it is not known.
    func expire(at now: Timestamp) {
        let late = waiting.withLock { waiting in
            waiting.commands.filter { $0.value.deadline <= now }.map(\.key)
        }
        for id in late { finish(id, .failure(.unknown("no acknowledgement in time"))) }
    }

    /// Ends everything; further commands fail at once. What became of those that were sent is not known.
    func end(_ reason: String) {
        let open = waiting.withLock { waiting in
            waiting.end = waiting.end ?? reason
            defer { waiting.commands = [:] }
            return waiting.commands.values.map(\.continuation)
        }
        for continuation in open { continuation.resume(returning: .failure(.unknown(reason))) }
    }

    func kill() { socket.kill() }

    private func finish(_ id: String, _ outcome: Outcome) {
        let continuation = waiting.withLock { $0.commands.removeValue(forKey: id)?.continuation }
        continuation?.resume(returning: outcome)
    }

    /// An id that no other command has.
    static func newID() -> String { "st-" + Hex.encode(randomBytes(12)) }
}
