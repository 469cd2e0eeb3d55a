/// One socket as the loop sees it. Not Sendable, so it cannot leave the loop's thread.
final class SocketConnection {
    let link: SocketLink
    let transport: Transport
    private(set) var isOver = false

    private var phase = Phase.open
    private var reader: FrameReader
    private var output: [UInt8] = []
    private var written = 0
    /// A pong or a ping that goes out before the next messages.
    private var control: [UInt8] = []
    /// Our close frame, sent when nothing else is left.
    private var farewell: [UInt8]?
    private var isPaused = false
    private var heardAt: Double
    private var pingedAt: Double?
    private var masks = MaskSource()

    private enum Phase {
        case open
        /// We wish to close; the peer has until then to say goodbye.
        case closing(until: Double)
        /// How it ended is known; our last frame still has to leave, and the peer to go.
        case leaving(until: Double)
    }

    init(_ arrival: SocketArrival, now: Double) {
        link = arrival.link
        transport = arrival.transport
        reader = FrameReader(expectsMask: !link.masks, limit: link.limits.message)
        heardAt = now
    }

    // MARK: - Reading

    /// Reads this turn's share. True when there may be more at once.
    func read(_ buffer: UnsafeMutableRawBufferPointer, now: Double) -> Bool {
        var arrivals = Arrivals()
        var failure: FrameError?
        var lost: String?
        var share = 16
        reading: while !isOver, !isPaused, share > 0 {
            share -= 1
            switch transport.read(buffer) {
            case .bytes(let count):
                heardAt = now
                if case .leaving = phase { continue }
                let input = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                do throws(FrameError) { try reader.feed(input, &arrivals) } catch { failure = error }
                if failure != nil || arrivals.close != nil { break reading }
                if arrivals.messages.count >= link.limits.inboxMessages
                    || arrivals.bytes >= link.limits.inboxBytes
                {
                    break reading
                }
            case .wait:
                share = -1
            case .end:
                lost = "the peer left"
                share = -1
            case .failed(let reason):
                lost = reason
                share = -1
            }
        }
        take(&arrivals, failure, now: now)
        if let lost, !isOver { finish(.lost(lost)) }
        return !isOver && !isPaused && share >= 0
    }

    /// Bytes that came with the handshake.
    func feed(_ early: [UInt8], now: Double) {
        guard !early.isEmpty else { return }
        var arrivals = Arrivals()
        var failure: FrameError?
        early.withUnsafeBytes { bytes in
            do throws(FrameError) { try reader.feed(bytes, &arrivals) } catch { failure = error }
        }
        take(&arrivals, failure, now: now)
    }

    private func take(_ arrivals: inout Arrivals, _ failure: FrameError?, now: Double) {
        var isClosing = false
        if case .closing = phase { isClosing = true }
        if link.deliver(&arrivals, dropsWhenFull: isClosing) { isPaused = true }
        if let failure {
            leave(
                .init(code: failure.code, reason: failure.text, wasClean: false),
                saying: (failure.code, failure.text), now: now)
        } else if let goodbye = arrivals.close {
            let answer: UInt16 = goodbye.code == 1005 ? 1000 : goodbye.code
            leave(
                .init(code: goodbye.code, reason: goodbye.reason, wasClean: true),
                saying: isClosing && farewell == nil ? nil : (answer, ""), now: now)
        } else if let ping = arrivals.ping {
            queueControl(.pong, ping)
            flush(now: now)
        }
    }

    // MARK: - Writing

    /// Writes what there is until the system takes no more.
    func flush(now: Double) {
        while !isOver {
            if written == output.count, !refill() { break }
            let moved = output.withUnsafeBytes { bytes in
                transport.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
            }
            switch moved {
            case .bytes(let count): written += count
            case .wait: return
            case .end: finish(.lost("the peer left"))
            case .failed(let reason): finish(.lost(reason))
            }
        }
        // All is said, and the peer has said goodbye as well: it will leave when it sees our end.
        if !isOver, case .leaving = phase { transport.finishWriting() }
    }

    private func refill() -> Bool {
        output.removeAll(keepingCapacity: output.capacity <= 128 << 10)
        written = 0
        if !control.isEmpty {
            swap(&output, &control)
            return true
        }
        if case .leaving = phase {} else if link.takeOutbox(&output) { return true }
        guard let last = farewell else { return false }
        farewell = nil
        output = last
        return true
    }

    /// Only the newest control frame waits: a peer that pings without reading the answers gets one.
    private func queueControl(_ opcode: Opcode, _ payload: [UInt8]) {
        control.removeAll(keepingCapacity: true)
        appendFrame(opcode, payload, mask: link.masks ? masks.next() : nil, to: &control)
    }

    private func closeFrame(_ code: UInt16, _ reason: String) -> [UInt8] {
        var frame: [UInt8] = []
        let payload = closePayload(code: code, reason: reason)
        appendFrame(.close, payload, mask: link.masks ? masks.next() : nil, to: &frame)
        return frame
    }

    // MARK: - Wishes and time

    /// Does what the users wish. True when reading is to go on.
    func obey(now: Double) -> Bool {
        let wishes = link.wishes()
        if wishes.isToBeKilled {
            finish(.lost("hung up"))
            return false
        }
        if let farewell = wishes.farewell { close(code: farewell.code, reason: farewell.reason, now: now) }
        flush(now: now)
        guard isPaused, !isOver, !wishes.isPaused else { return false }
        resume(now: now)
        return true
    }

    /// Starts the closing handshake, after what is queued.
    func close(code: UInt16, reason: String, now: Double) {
        guard case .open = phase else { return }
        phase = .closing(until: now + link.limits.closeWithin.inSeconds)
        farewell = closeFrame(code, reason)
        // The peer's goodbye may be among what we have not read.
        if isPaused { resume(now: now) }
    }

    private func resume(now: Double) {
        isPaused = false
        // The answer to a ping may be among what we did not read.
        heardAt = now
        pingedAt = nil
    }

    /// When it must be over, once the end has begun.
    var hurry: Double {
        switch phase {
        case .open: .infinity
        case .closing(let until), .leaving(let until): until
        }
    }

    /// What is due now, and when to ask again.
    func tick(now: Double) -> Double {
        switch phase {
        case .closing(let until), .leaving(let until):
            if now < until { return until }
            finish(.lost("the peer did not say goodbye"))
            return .infinity
        case .open:
            guard let quiet = link.limits.pingAfter?.inSeconds, !isPaused else { return .infinity }
            let patience = link.limits.hangUpAfter.inSeconds
            if let pinged = pingedAt, pinged >= heardAt {
                if now < pinged + patience { return pinged + patience }
                finish(.lost("the peer no longer answers"))
                return .infinity
            }
            if now < heardAt + quiet { return heardAt + quiet }
            pingedAt = now
            queueControl(.ping, [])
            flush(now: now)
            return now + patience
        }
    }

    private func leave(_ end: WebSocketEnd, saying last: (code: UInt16, reason: String)?, now: Double) {
        phase = .leaving(until: now + link.limits.closeWithin.inSeconds)
        isPaused = false
        control = []
        farewell = last.map { closeFrame($0.code, $0.reason) }
        link.finish(end)
        flush(now: now)
    }

    func finish(_ end: WebSocketEnd) {
        isOver = true
        link.finish(end)
    }
}
