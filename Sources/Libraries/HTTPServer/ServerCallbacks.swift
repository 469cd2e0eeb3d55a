import CMicroHTTPD
import Glibc
import WebSocket

// What libmicrohttpd calls, all on its own thread. `context` is the server's core, retained until the daemon has
// stopped; `*request` an exchange, retained from its request line until its completion; `*socket` a client.

private func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
    context.map { Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
}

private func exchange(_ request: UnsafeMutableRawPointer?) -> Exchange? {
    request.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
}

/// The request line has come, with its target not yet decoded: libmicrohttpd's own path has lost what `%2F` was.
func noteTarget(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    let exchange = Exchange(target: target.map { String(cString: $0) } ?? "/")
    if let socket = connection.flatMap({ cmhd_socket_context($0) }) {
        exchange.client = Unmanaged<Client>.fromOpaque(socket).takeUnretainedValue()
    }
    if let connection { core(context)?.noteHead(exchange, connection) }
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// Called when the head is whole, with each piece of the body, after its end, and again after each resume.
func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let core = core(context), let connection, let size, let exchange = exchange(request?.pointee) else {
        return .NO
    }
    switch exchange.stage {
    case .head:
        exchange.isModern = version.map { strcmp($0, "HTTP/1.1") == 0 } ?? false
        exchange.method = method.map { String(cString: $0) } ?? ""
        return core.takeHead(exchange, connection)
    case .body where size.pointee > 0:
        let count = size.pointee
        size.pointee = 0
        return core.takeBody(exchange, UnsafeRawBufferPointer(start: data, count: count))
    case .body:
        core.noteEnd(exchange)
        return .YES
    case .whole:
        return core.takeEnd(exchange, connection)
    case .handling:
        guard let reply = exchange.reply.with({ $0 }) else { return .NO }
        return core.reply(reply, to: exchange, connection)
    case .answered:
        size.pointee = 0
        return .YES
    }
}

/// The answer has left, or the client has.
func noteCompletion(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ how: MHD_RequestTerminationCode
) {
    guard let pointer = request?.pointee else { return }
    request?.pointee = nil
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    guard let core = core(context) else { return }
    core.forgetHead(exchange)
    guard let client = exchange.client else { return }
    if !client.isUpgraded { core.expectHead(client.descriptor) }
    if exchange.stage != .head { core.end() }
}

/// libmicrohttpd is about to complain about a client, perhaps about a length that it cannot read.
func noteComplaint(
    _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer?
) {
    core(context)?.refuseUnreadableLengths()
}

/// A connection begins or ends.
func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ socket: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ what: MHD_ConnectionNotificationCode
) {
    guard let core = core(context), let connection, let socket else { return }
    if what == .CONNECTION_NOTIFY_STARTED {
        let remote = cmhd_peer(connection).map { name(of: $0) } ?? "unknown"
        let client = Client(descriptor: cmhd_descriptor(connection), remote: remote)
        socket.pointee = Unmanaged.passRetained(client).toOpaque()
        core.expectHead(client.descriptor)
    } else if let pointer = socket.pointee {
        socket.pointee = nil
        let client = Unmanaged<Client>.fromOpaque(pointer).takeRetainedValue()
        core.suspendDeadline(client.descriptor)
        core.leave()
        if !client.isUpgraded { core.linger(client.descriptor) }
    }
}

/// The switch to WebSocket has been answered; the socket is ours until it is given back.
func takeSocket(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ request: UnsafeMutableRawPointer?,
    _ early: UnsafePointer<CChar>?, _ count: Int, _ descriptor: Int32, _ handle: OpaquePointer?
) {
    guard let handle else { return }
    guard let core = core(context), let exchange = exchange(request), let upgrade = exchange.upgrade else {
        cmhd_end_upgrade(handle)
        return
    }
    // Messages are small and must not wait for each other's acknowledgement.
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    core.serve(
        descriptor, early: Array(UnsafeRawBufferPointer(start: early, count: count)), upgrade: upgrade,
        remote: exchange.client?.remote ?? "unknown", handle: handle)
}
