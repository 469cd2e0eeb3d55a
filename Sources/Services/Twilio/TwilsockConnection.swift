internal import Chat
internal import Crypto
internal import JSON
internal import WebSocket

/// One socket to Twilsock and the requests on it that have no reply yet.
final class TwilsockConnection: Sendable {
    let socket: WebSocket
    private let waiting = Locked(Waiting())
    /// Ids must not repeat from one connection to the next.
    private let idPrefix = "TM" + Hex.encode(randomBytes(8))

    private struct Waiting {
        var requests: [String: (deadline: Timestamp, continuation: CheckedContinuation<Outcome, Never>)] = [:]
        var counter: UInt64 = 0
        var end: String?
        /// Acknowledgements that found no room.
        var acknowledgements: [[UInt8]] = []
    }

    typealias Outcome = Result<TwilsockReply, TwilsockFailure>

    /// A peer that takes nothing for so long is not worth more memory.
    private static let mostAcknowledgements = 20_000

    init(_ socket: WebSocket) {
        self.socket = socket
    }

    /// Sends a frame and waits for its reply, until `deadline` at the longest.
    ///
    /// `header` writes the members beside `id` and `payload_size`.
    func ask(
        _ header: (inout JSONWriter) -> Void, payload: [UInt8] = [], until deadline: Timestamp,
        clock: ServiceClock
    ) async throws(TwilsockFailure) -> TwilsockReply {
        let number = waiting.withLock { waiting in
            waiting.counter += 1
            return waiting.counter
        }
        let digits = String(number, radix: 16)
        let id = idPrefix + String(repeating: "0", count: 16 - digits.count) + digits
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            header(&writer)
            writer.member("payload_size", payload.count)
        }
        let frame = TwilsockFrame.bytes(header: writer.bytes, payload: payload)
        while true {
            switch await attempt(frame, id: id, until: deadline) {
            case .success(let reply): return reply
            case .failure(.full):
                // The peer does not keep up; what waits to be written has to leave first.
                guard clock.now() < deadline, (try? await clock.sleep(.milliseconds(10))) != nil else {
                    throw .notSent("the connection is congested")
                }
            case .failure(let failure): throw failure
            }
        }
    }

    private func attempt(_ frame: [UInt8], id: String, until deadline: Timestamp) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let failure: TwilsockFailure? = waiting.withLock { waiting in
                    if let end = waiting.end { return .notSent(end) }
                    if Task.isCancelled { return .notSent("cancelled") }
                    // Before it is sent: the reply may be faster than we are.
                    waiting.requests[id] = (deadline, continuation)
                    return nil
                }
                if let failure { return continuation.resume(returning: .failure(failure)) }
                guard !socket.offer(.binary(frame)) else { return }
                finish(id, .failure(socket.end == nil ? .full : .notSent("the connection is lost")))
            }
        } onCancel: {
            finish(id, .failure(.lost("cancelled")))
        }
    }

    /// A reply has come; one that nobody waits for is ignored.
    func resolve(_ reply: TwilsockReply) {
        finish(reply.id, .success(reply))
    }

    /// Ends what has waited for too long. What became of it is not known.
    func expire(at now: Timestamp) {
        let late = waiting.withLock { waiting in
            waiting.requests.filter { $0.value.deadline <= now }.map(\.key)
        }
        for id in late { finish(id, .failure(.lost("no reply in time"))) }
    }

    /// Ends everything; further requests fail at once. What became of those that were sent is not known.
    func end(_ reason: String) {
        let open = waiting.withLock { waiting in
            waiting.end = waiting.end ?? reason
            defer { waiting.requests = [:] }
            return waiting.requests.values.map(\.continuation)
        }
        for continuation in open { continuation.resume(returning: .failure(.lost(reason))) }
    }

    /// Never waits, so that reading goes on whatever the peer does with what we write.
    func acknowledge(_ frames: [[UInt8]]) {
        let held = waiting.withLock { waiting in
            defer { waiting.acknowledgements = [] }
            return waiting.acknowledgements
        }
        let all = held + frames
        guard let stuck = all.indices.first(where: { !socket.offer(.binary(all[$0])) }) else { return }
        guard all.count - stuck <= Self.mostAcknowledgements else { return socket.kill() }
        let rest = Array(all[stuck...])
        waiting.withLock { $0.acknowledgements = rest }
    }

    /// Tells the server that we go, without waiting for what it says.
    func sayGoodbye() {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", idPrefix + "ffffffffffffffff")
            writer.member("method", "close")
            writer.member("payload_size", 0)
        }
        _ = socket.offer(.binary(TwilsockFrame.bytes(header: writer.bytes)))
        socket.close()
    }

    func kill() {
        socket.kill()
    }

    private func finish(_ id: String, _ outcome: Outcome) {
        let continuation = waiting.withLock { $0.requests.removeValue(forKey: id)?.continuation }
        continuation?.resume(returning: outcome)
    }
}

/// Why there is no reply.
enum TwilsockFailure: ConnectionFailure, Equatable {
    /// Nothing has left.
    case notSent(String)
    /// It was sent; whether it was done is unknown.
    case lost(String)
    /// There is no room for it now.
    case full

    var reason: String {
        switch self {
        case .notSent(let reason), .lost(let reason): reason
        case .full: "the connection is congested"
        }
    }
}
