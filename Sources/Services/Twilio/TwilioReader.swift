package import Chat
internal import JSON

/// Turns frames of Twilsock into what they ask of the client: chat events, acknowledgements, replies, news. No socket
/// and no clock of its own.
package struct TwilioReader {
    /// Nil until it is known who we are; Sync events before that are of no use.
    package var book: SyncBook?
    /// Answers to send, before anything else is done.
    package private(set) var acknowledgements: [[UInt8]] = []
    private(set) var signals: [Signal] = []
    /// Frames that made no sense, for the log; the last of them.
    package private(set) var damage: String?

    private let json = JSONReader()

    /// What concerns the connection.
    enum Signal: Sendable {
        case reply(TwilsockReply)
        case tokenAboutToExpire
        case closed(TwilsockStatus, backoff: ClosedRange<Duration>?)
    }

    package init(book: SyncBook? = nil) {
        self.book = book
    }

    /// Reads one frame, all of it.
    package mutating func read(_ frame: [UInt8], at now: Timestamp) {
        frame.withUnsafeBytes { read($0, at: now) }
    }

    package mutating func read(_ frame: UnsafeRawBufferPointer, at now: Timestamp) {
        do {
            let range = try TwilsockFrame.header(in: frame)
            var acknowledgement: [UInt8]?
            let header = try json.read(UnsafeRawBufferPointer(rebasing: frame[range])) { node in
                var id: JSONNode?
                let header = TwilsockHeader(node, id: &id)
                if !header.isReply {
                    acknowledgement = id?.utf8.map { TwilsockFrame.acknowledgement(of: $0) }
                }
                return header
            }
            if let acknowledgement { acknowledgements.append(acknowledgement) }
            try take(header, after: range, in: frame, at: now)
        } catch {
            damage = "\(error)"
        }
    }

    private mutating func take(
        _ header: TwilsockHeader, after range: Range<Int>, in frame: UnsafeRawBufferPointer, at now: Timestamp
    ) throws {
        func payload(_ size: Int64) throws -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                rebasing: frame[try TwilsockFrame.payload(of: size, after: range, in: frame)])
        }
        switch header {
        case .notification(.sync, let size):
            guard book != nil else { return }
            try json.read(payload(size)) { book?.read($0, at: now) }
        case .notification(.typing, let size):
            guard book != nil else { return }
            try json.read(payload(size)) { book?.readTyping($0, at: now) }
        case .notification(.other, _), .other: break
        case .reply(var reply, let size):
            reply.payload = Array(try payload(size))
            signals.append(.reply(reply))
        case .close(let status, let size):
            let backoff = TwilsockReply.backoff(in: Array(try payload(size)))
            signals.append(.closed(status, backoff: backoff))
        case .clientUpdate(let type):
            if type == "token_about_to_expire" { signals.append(.tokenAboutToExpire) }
        }
    }

    package mutating func takeAcknowledgements() -> [[UInt8]] {
        defer { acknowledgements = [] }
        return acknowledgements
    }

    mutating func takeSignals() -> [Signal] {
        defer { signals = [] }
        return signals
    }

    mutating func takeDamage() -> String? {
        defer { damage = nil }
        return damage
    }
}

extension TwilsockHeader {
    fileprivate var isReply: Bool {
        if case .reply = self { true } else { false }
    }
}
