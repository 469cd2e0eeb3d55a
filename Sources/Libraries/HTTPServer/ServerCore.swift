import CMicroHTTPD
import Glibc
import WebSocket

/// What the server's tasks and libmicrohttpd's thread share.
final class ServerCore: Sendable {
    let limits: HTTPLimits
    let loop: SocketLoop
    private let onShortage: @Sendable (String) -> Void
    private let handler: @Sendable (HTTPRequest) async -> HTTPReply
    private let state = Guarded(State())

    private struct State {
        var phase = Phase.running
        var daemon: Handle?
        var listener: SocketListener?
        /// Connections that libmicrohttpd has.
        var connections = 0
        var isFull = false
        var lastID: UInt64 = 0
        /// When to hang up, by the connection's descriptor.
        var deadlines: [Int32: Deadline] = [:]
        /// Requests whose handler runs; their connections are suspended.
        var pending: [UInt64: Pending] = [:]
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var sockets: [UInt64: WebSocket] = [:]
        /// Requests from their head to the end of their answer.
        var active = 0
        /// Upgraded connections not yet given back.
        var upgraded = 0
        var isTooLate = false
        /// Requests whose head is not yet whole.
        var heads: [ObjectIdentifier: Head] = [:]
        var waiter: (condition: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)?
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct Deadline {
        var at: Double
        /// More of a request must come.
        var isReading: Bool
        /// Looks in a row at which nothing more could come.
        var endings = 0
    }

    enum Phase { case running, stopping, stopped }

    /// A pointer of libmicrohttpd's; its functions used here may be called from any thread.
    struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Touched by libmicrohttpd's thread only.
    struct Head: @unchecked Sendable {
        let exchange: Exchange
        let connection: OpaquePointer
    }

    private struct Pending: Sendable {
        let connection: Handle
        let reply: Guarded<HTTPReply?>
    }

    init(
        loop: SocketLoop, limits: HTTPLimits, onShortage: @escaping @Sendable (String) -> Void,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPReply
    ) {
        self.loop = loop
        self.limits = limits
        self.onShortage = onShortage
        self.handler = handler
    }

    var isStopping: Bool { state.with { $0.phase != .running } }

    // MARK: - Start

    /// Takes over the listening descriptor.
    func open(_ listener: Int32) throws(HTTPServerError) {
        // libmicrohttpd's from here until it has stopped.
        let context = Unmanaged.passRetained(self)
        // Room for a head of the size allowed, for what its fields take besides, and for the answer's head.
        let memory = limits.head * 2 + limits.fields * 64
        // Its own limit must never be met: at it, it forgets to let go of a lock.
        let daemon = cmhd_start(
            UInt32(limits.connections + 1_024), memory, UInt32(max(1, limits.stalledFor.inSeconds)),
            context.toOpaque(), handleRequest, noteTarget, noteCompletion, noteConnection,
            noteComplaint)
        guard let daemon else {
            context.release()
            Glibc.close(listener)
            throw HTTPServerError(kind: .exhausted, text: "cannot start the server: \(systemError())")
        }
        let handle = Handle(pointer: daemon)
        state.with { $0.daemon = handle }
        // The loop accepts, because libmicrohttpd spins when the system has no more descriptors.
        let accepting = loop.accept(from: listener, onShortage: onShortage) { descriptor, address, length in
            self.take(descriptor, address, length, handle)
        }
        guard let accepting else {
            MHD_stop_daemon(daemon)
            context.release()
            throw HTTPServerError(kind: .exhausted, text: "cannot start the server: the socket loop is over")
        }
        state.with { $0.listener = accepting }
        watchDeadlines()
    }

    /// Gives a new connection to libmicrohttpd. True when there is room for more.
    private func take(
        _ descriptor: Int32, _ address: UnsafeRawPointer, _ length: UInt32, _ daemon: Handle
    ) -> Bool {
        // It closes the descriptor when it cannot take it.
        let isTaken =
            MHD_add_connection(
                daemon.pointer, descriptor, address.assumingMemoryBound(to: sockaddr.self), length) == .YES
        return state.with { state in
            if isTaken { state.connections += 1 }
            state.isFull = state.connections >= limits.connections
            return !state.isFull
        }
    }

    /// A connection has ended.
    func leave() {
        let listener = state.with { state -> SocketListener? in
            state.connections -= 1
            guard state.isFull, state.connections < limits.connections else { return nil }
            state.isFull = false
            return state.listener
        }
        listener?.resume()
    }

    // MARK: - Requests

    func noteHead(_ exchange: Exchange, _ connection: OpaquePointer) {
        state.with { $0.heads[ObjectIdentifier(exchange)] = Head(exchange: exchange, connection: connection) }
    }

    func forgetHead(_ exchange: Exchange) {
        state.with { _ = $0.heads.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    var heads: [Head] { state.with { Array($0.heads.values) } }

    /// Starts the handler for a request whose connection is suspended.
    func handle(_ request: HTTPRequest, on connection: OpaquePointer, reply: Guarded<HTTPReply?>) {
        let pending = Pending(connection: Handle(pointer: connection), reply: reply)
        let (id, isStopping) = state.with { state -> (UInt64, Bool) in
            state.lastID += 1
            state.pending[state.lastID] = pending
            return (state.lastID, state.phase != .running)
        }
        if isStopping {
            answer(id, .text(503, "stopping\n"))
            return
        }
        // Not a child task: the request came on the C library's thread. `shutdown` waits for it and cancels it.
        run(id) { core in core.answer(id, await core.handler(request)) }
    }

    private func run(_ id: UInt64, _ work: @escaping @Sendable (ServerCore) async -> Void) {
        state.with { state in
            state.tasks[id] = Task {
                await work(self)
                self.state.with { _ = $0.tasks.removeValue(forKey: id) }
            }
        }
    }

    /// The first answer counts.
    private func answer(_ id: UInt64, _ reply: HTTPReply) {
        guard let pending = state.with({ $0.pending[id] }) else { return }
        pending.reply.with { if $0 == nil { $0 = reply } }
        let isFirst = state.with { $0.pending.removeValue(forKey: id) != nil }
        if isFirst { MHD_resume_connection(pending.connection.pointer) }
    }

    // MARK: - Sockets

    /// Serves a socket that libmicrohttpd has handed over.
    func serve(
        _ descriptor: Int32, early: [UInt8], upgrade: Exchange.Upgrade, remote: String, handle: OpaquePointer
    ) {
        let handle = Handle(pointer: handle)
        state.with { $0.upgraded += 1 }
        let socket = WebSocket.adopt(
            descriptor, early: early, subprotocol: upgrade.subprotocol, peer: remote, limits: limits.sockets,
            on: loop, release: { self.giveBack(handle) })
        let (id, isStopping) = state.with { state -> (UInt64, Bool) in
            state.lastID += 1
            state.sockets[state.lastID] = socket
            return (state.lastID, state.phase != .running)
        }
        if isStopping { socket.close(code: 1001, reason: "the server is stopping") }
        run(id) { core in
            await upgrade.serve(socket)
            socket.close()
            core.state.with { _ = $0.sockets.removeValue(forKey: id) }
        }
    }

    private func giveBack(_ handle: Handle) {
        cmhd_end_upgrade(handle.pointer)
        wake { $0.upgraded -= 1 }
    }

    // MARK: - Requests in flight

    /// A head has come in.
    func begin(_ descriptor: Int32) {
        let deadline = monotonicSeconds() + limits.bodyWithin.inSeconds
        state.with { state in
            state.active += 1
            state.deadlines[descriptor] = Deadline(at: deadline, isReading: true)
        }
    }

    /// The client is not to be hurried while we think.
    func suspendDeadline(_ descriptor: Int32) {
        state.with { _ = $0.deadlines.removeValue(forKey: descriptor) }
    }

    func expectHead(_ descriptor: Int32) { expect(descriptor, within: limits.headWithin, isReading: true) }

    func expectTaking(_ descriptor: Int32) {
        expect(descriptor, within: limits.answerWithin, isReading: false)
    }

    private func expect(_ descriptor: Int32, within limit: Duration, isReading: Bool) {
        let deadline = Deadline(at: monotonicSeconds() + limit.inSeconds, isReading: isReading)
        state.with { $0.deadlines[descriptor] = deadline }
    }

    /// Its answer has left, or the client has.
    func end() {
        wake { $0.active -= 1 }
    }

    // MARK: - Time

    private func watchDeadlines() {
        let shortest = min(limits.headWithin, limits.bodyWithin, limits.answerWithin)
        let pause = min(.milliseconds(300), shortest / 4)
        // Nobody's child: it ends once the server has stopped.
        Task {
            while sweep() { try? await Task.sleep(for: pause) }
        }
    }

    /// Hangs up where time is over; libmicrohttpd then sees the end and cleans up. It does not see by itself that a
    /// client has left that wrote a part of a request and left at once: both came with one event.
    private func sweep() -> Bool {
        let now = monotonicSeconds()
        return state.with { state in
            // Under the lock: the descriptor is closed only after it has left the table.
            for (descriptor, deadline) in state.deadlines {
                // Thrice: what was read may be a whole request that is about to be taken, and of two looks one may
                // be from before the whole program was held up.
                let endings = deadline.isReading && Self.hasEnded(descriptor) ? deadline.endings + 1 : 0
                if now >= deadline.at || endings == 3 {
                    Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
                    state.deadlines[descriptor] = Deadline(at: .infinity, isReading: false)
                } else if endings != deadline.endings {
                    state.deadlines[descriptor]?.endings = endings
                }
            }
            return state.phase != .stopped
        }
    }

    private static func hasEnded(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    // MARK: - Stop

    func letGo() {
        // Nobody waits for it: whoever let go of the server does not care how it ends.
        Task { await shutdown(grace: .zero) }
    }

    func shutdown(grace: Duration) async {
        let (daemon, listener) = state.with { state -> (Handle?, SocketListener?) in
            guard state.phase == .running else { return (nil, nil) }
            state.phase = .stopping
            return (state.daemon, state.listener)
        }
        guard let daemon else { return await stopped() }
        await listener?.stop()
        for socket in state.with({ Array($0.sockets.values) }) {
            socket.close(code: 1001, reason: "the server is stopping")
        }
        await quiet(within: grace)
        let (sockets, tasks, pending) = state.with {
            (Array($0.sockets.values), Array($0.tasks.values), Array($0.pending.keys))
        }
        for task in tasks { task.cancel() }
        for socket in sockets { socket.kill() }
        for id in pending { answer(id, .text(503, "stopping\n")) }
        await quiet(within: .seconds(1))
        await allGivenBack()
        await stop(daemon)
    }

    private func stopped() async {
        await withCheckedContinuation { continuation in
            let isOver = state.with { state in
                if state.phase != .stopped { state.stopWaiters.append(continuation) }
                return state.phase == .stopped
            }
            if isOver { continuation.resume() }
        }
    }

    /// Waits until no request is in flight and no socket open.
    private func quiet(within limit: Duration) async {
        state.with { $0.isTooLate = false }
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            wake { $0.isTooLate = true }
        }
        await waitFor { $0.isTooLate || ($0.active == 0 && $0.upgraded == 0) }
        timer.cancel()
    }

    /// The loop always gives a killed socket back; the descriptor must not be closed under it.
    private func allGivenBack() async {
        await waitFor { $0.upgraded == 0 }
    }

    private func waitFor(_ condition: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = state.with { state in
                if condition(state) { return true }
                state.waiter = (condition, continuation)
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    /// Changes something that `shutdown` may wait for.
    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.with { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            guard let waiter = state.waiter, waiter.condition(state) else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    private func stop(_ daemon: Handle) async {
        await withCheckedContinuation { continuation in
            let work = { @Sendable in
                // Waits for libmicrohttpd's thread.
                MHD_stop_daemon(daemon.pointer)
                continuation.resume()
            }
            if !startThread("stop", work) { work() }
        }
        let waiters = state.with { state -> [CheckedContinuation<Void, Never>] in
            state.phase = .stopped
            state.daemon = nil
            state.listener = nil
            let waiters = state.stopWaiters
            state.stopWaiters = []
            return waiters
        }
        // The reference that libmicrohttpd's callbacks had.
        Unmanaged.passUnretained(self).release()
        for waiter in waiters { waiter.resume() }
    }
}
