internal import Chat

/// What may go wrong on purpose, for tests.
package struct Fault: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The socket is cut when the next post arrives, before it is taken.
        case cutBeforePost
        /// The socket is cut when the next post is taken and stored, before its reply and its events.
        case cutAfterPost
        /// Replies come later.
        case delayReply(Duration)
        /// Requests are taken, and not answered.
        case noReply
        /// Requests are answered with this status and code and not taken; with `retry-after` if a time is given.
        case refuse(status: Int, code: Int, retryAfter: Int?)
        /// A change is made, but answered with 202 and where to look for it.
        case accepted
        /// `init` is answered with this status and code; with a back-off if a time is given.
        case refuseInit(status: Int, code: Int?, backoff: Duration?)
        /// `update` is answered with this status and code.
        case refuseUpdate(status: Int, code: Int?)
        /// The token endpoint answers with this status.
        case refuseToken(status: Int)
        /// A message's event comes after the one behind it.
        case misorder
        /// A message's event comes twice.
        case duplicate
        /// A message's event does not come.
        case lose
        /// Nobody says that a subscription stands.
        case notEstablished
        /// Frames from the client are not read, as on a dead line.
        case silent
        /// Sendbird's clients are told to come back after that many seconds, in place of being let in.
        case busy(retryAfter: Int)
        /// A ping is not answered.
        case noPong
        /// A message's event says that it was written a minute before.
        case oldTime
        /// A frame goes out compressed, if the client takes that.
        case gzip
        /// A frame holds the event and a command that no client knows, one after the other.
        case glued
        /// A frame ends without its line break.
        case unended
    }

    package var kind: Kind
    /// Whom it meets; nil for everybody.
    package var identity: String?
    /// How often it happens.
    package var times: Int

    package init(_ kind: Kind, for identity: String? = nil, times: Int = 1) {
        self.kind = kind
        self.identity = identity
        self.times = times
    }
}

/// The faults that are still to happen.
final class Faults: Sendable {
    private let waiting = Locked<[Fault]>([])

    func add(_ fault: Fault) {
        waiting.withLock { $0.append(fault) }
    }

    func clear() {
        waiting.withLock { $0.removeAll() }
    }

    /// The first that meets this identity here, used up by one.
    func take<Answer: Sendable>(for identity: String?, _ body: (Fault.Kind) -> Answer?) -> Answer? {
        waiting.withLock { waiting in
            guard !waiting.isEmpty else { return nil }
            for place in waiting.indices {
                let fault = waiting[place]
                guard fault.identity == nil || fault.identity == identity, let answer = body(fault.kind)
                else {
                    continue
                }
                waiting[place].times -= 1
                if waiting[place].times <= 0 { waiting.remove(at: place) }
                return answer
            }
            return nil
        }
    }

    func take(_ kind: Fault.Kind, for identity: String?) -> Bool {
        take(for: identity) { $0 == kind ? true : nil } ?? false
    }
}
