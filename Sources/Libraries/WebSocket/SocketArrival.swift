/// A socket on its way to the loop, already speaking WebSocket.
struct SocketArrival: Sendable {
    let link: SocketLink
    let transport: Transport
    /// Bytes that came right behind the handshake.
    let early: [UInt8]

    /// The loop is over; nobody will look after this socket.
    func refuse() {
        transport.release()
        link.finish(.init(code: 1001, reason: "the program is stopping", wasClean: false))
    }
}
