import CSockets
import Glibc

/// The loop itself. Made and used on its thread only, which the compiler checks: it is not Sendable.
final class Hub {
    private let mailbox: LoopMailbox
    private let epoll: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var connections: [UInt64: SocketConnection] = [:]
    private var lingerers: [UInt64: (descriptor: Int32, until: Double)] = [:]
    private var listeners: [UInt64: Accepting] = [:]
    /// Sockets that had more to read than their share.
    private var again: [UInt64] = []
    private var nextTick = Double.infinity
    private var stopAt: Double?
    private var letters: [LoopMailbox.Letter] = []

    init(mailbox: LoopMailbox, epoll: Int32) {
        self.mailbox = mailbox
        self.epoll = epoll
    }

    deinit {
        buffer.deallocate()
        Glibc.close(epoll)
    }

    func run() {
        _ = sockets_watch(epoll, mailbox.bell, 0)
        var events = [SocketsEvent](repeating: SocketsEvent(), count: 256)
        repeat {
            turn(&events)
        } while !isDone || !mailbox.endIfEmpty()
    }

    private var isDone: Bool {
        guard let stopAt else { return false }
        if monotonicSeconds() >= stopAt { endAll() }
        return connections.isEmpty && lingerers.isEmpty
    }

    private func turn(_ events: inout [SocketsEvent]) {
        let count = sockets_wait(epoll, &events, Int32(events.count), patience)
        let now = monotonicSeconds()
        let unfinished = again
        again.removeAll(keepingCapacity: true)
        for event in events.prefix(Int(max(count, 0))) where event.key != 0 {
            if let connection = connections[event.key] {
                if event.writable != 0 { connection.flush(now: now) }
                if event.readable != 0 { read(connection, now: now) }
                settle(connection)
            } else {
                serve(event.key, now: now)
            }
        }
        for key in unfinished {
            if let connection = connections[key] {
                read(connection, now: now)
                settle(connection)
            } else {
                serve(key, now: now)
            }
        }
        // After the sockets, so that what they brought and its answers share one round.
        readMail(now: now)
        if now >= nextTick { tick(now: now) }
    }

    /// Milliseconds until something is due.
    private var patience: Int32 {
        if !again.isEmpty { return 0 }
        let due = min(nextTick, stopAt ?? .infinity)
        guard due < .infinity else { return -1 }
        return Int32(max(0, min((due - monotonicSeconds()) * 1_000, 60_000)).rounded(.up))
    }

    private func read(_ connection: SocketConnection, now: Double) {
        if connection.read(buffer, now: now) { again.append(connection.link.key) }
    }

    private func settle(_ connection: SocketConnection) {
        guard connection.isOver else {
            nextTick = min(nextTick, connection.hurry)
            return
        }
        guard connections.removeValue(forKey: connection.link.key) != nil else {
            return
        }
        sockets_unwatch(epoll, connection.transport.descriptor)
        connection.transport.release()
    }

    /// What is no WebSocket.
    private func serve(_ key: UInt64, now: Double) {
        if let lingerer = lingerers[key] {
            drain(lingerer.descriptor, key)
        } else if var accepting = listeners[key] {
            if accepting.accept(now: now) { again.append(key) }
            if let due = accepting.pausedUntil { nextTick = min(nextTick, due) }
            listeners[key] = accepting
        }
    }

    private func drain(_ descriptor: Int32, _ key: UInt64) {
        for _ in 0..<16 {
            let count = sockets_receive(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { continue }
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            dropLingerer(key)
            return
        }
        again.append(key)
    }

    private func dropLingerer(_ key: UInt64) {
        guard let lingerer = lingerers.removeValue(forKey: key) else { return }
        sockets_unwatch(epoll, lingerer.descriptor)
        Glibc.close(lingerer.descriptor)
    }

    // MARK: - Mail

    private func readMail(now: Double) {
        var rung: UInt64 = 0
        _ = Glibc.read(mailbox.bell, &rung, 8)
        mailbox.drain(&letters)
        for letter in letters {
            switch letter {
            case .socket(let arrival): welcome(arrival, now: now)
            case .poke(let key): poke(key, now: now)
            case .accept(let listener): accept(listener, now: now)
            case .stopAccepting(let key, let continuation):
                stopAccepting(key)
                continuation.resume()
            case .linger(let descriptor, let until): linger(descriptor, until: until)
            case .stop(let at): stop(at: at, now: now)
            }
        }
    }

    private func welcome(_ arrival: SocketArrival, now: Double) {
        let key = arrival.link.key
        guard stopAt == nil, sockets_watch(epoll, arrival.transport.descriptor, key) == 0 else {
            arrival.refuse()
            return
        }
        let connection = SocketConnection(arrival, now: now)
        connections[key] = connection
        connection.feed(arrival.early, now: now)
        obey(connection, now: now)
    }

    private func poke(_ key: UInt64, now: Double) {
        if let connection = connections[key] {
            obey(connection, now: now)
        } else if listeners[key] != nil {
            listeners[key]?.makeRoom()
            serve(key, now: now)
        }
    }

    private func accept(_ listener: SocketListener, now: Double) {
        let accepting = Accepting(listener)
        guard stopAt == nil, sockets_watch(epoll, listener.descriptor, listener.key) == 0 else {
            accepting.close()
            return
        }
        listeners[listener.key] = accepting
        serve(listener.key, now: now)
    }

    private func stopAccepting(_ key: UInt64) {
        guard let accepting = listeners.removeValue(forKey: key) else { return }
        sockets_unwatch(epoll, accepting.listener.descriptor)
        accepting.close()
    }

    private func obey(_ connection: SocketConnection, now: Double) {
        if connection.obey(now: now) { read(connection, now: now) }
        // Only this one's times may have changed; the others are not looked at.
        if !connection.isOver { nextTick = min(nextTick, connection.tick(now: now)) }
        settle(connection)
    }

    private func linger(_ descriptor: Int32, until: Double) {
        // A flood of refused clients must not cost us all descriptors.
        guard stopAt == nil, lingerers.count < 256 else {
            Glibc.close(descriptor)
            return
        }
        let key = mailbox.nextKey()
        guard sockets_watch(epoll, descriptor, key) == 0 else {
            Glibc.close(descriptor)
            return
        }
        lingerers[key] = (descriptor, until)
        nextTick = min(nextTick, until)
    }

    // MARK: - Time

    private func tick(now: Double) {
        nextTick = .infinity
        for connection in Array(connections.values) {
            nextTick = min(nextTick, connection.tick(now: now))
            settle(connection)
        }
        for key in Array(listeners.keys) { serve(key, now: now) }
        for (key, lingerer) in lingerers {
            if now >= lingerer.until { dropLingerer(key) } else { nextTick = min(nextTick, lingerer.until) }
        }
    }

    private func stop(at: Double, now: Double) {
        stopAt = min(stopAt ?? at, at)
        for key in Array(listeners.keys) { stopAccepting(key) }
        for key in Array(lingerers.keys) { dropLingerer(key) }
        for connection in Array(connections.values) {
            connection.close(code: 1001, reason: "the program is stopping", now: now)
            connection.flush(now: now)
            read(connection, now: now)
            settle(connection)
        }
        nextTick = now
    }

    private func endAll() {
        for connection in Array(connections.values) {
            connection.finish(.init(code: 1001, reason: "the program is stopping", wasClean: false))
            settle(connection)
        }
        for key in Array(lingerers.keys) { dropLingerer(key) }
    }
}
