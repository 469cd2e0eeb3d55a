internal import Chat
internal import JSON
internal import WebSocket

/// One person's page, from the first word to the last.
final class BrowserConnection: Sendable {
    let door: BrowserDoor
    let outbox = Outbox()
    /// Where the page is: `address:port`.
    let remote: String
    private let socket: WebSocket
    let state = Locked(State())

    struct State: Sendable {
        /// Empty until they said who they are.
        var identity = ""
        /// They have shown that the name is theirs.
        var isProven = false
        /// Where they are a member, as far as they have been told.
        var joined: Set<SID> = []
    }

    init(_ socket: WebSocket, remote: String, door: BrowserDoor) {
        self.socket = socket
        self.remote = remote
        self.door = door
    }

    func run() async {
        async let sending: Void = send()
        say { writer in
            writer.member("on", "hello")
            writer.member("secret", door.settings.secret != nil)
        }
        // Before they come in already: coming in is stored, and may have to wait for it.
        door.hall.watch(self)
        while let messages = try? await socket.receive() {
            for message in messages {
                guard case .text(let bytes) = message, let order = try? JSON(sent: bytes),
                    let verb = order["do"]?.string
                else {
                    say { writer in
                        writer.member("on", "error")
                        writer.member("text", "the server could not read that")
                    }
                    continue
                }
                take(verb, order)
            }
            await outbox.room()
            await door.hall.ready()
        }
        outbox.close()
        await sending
        leave()
    }

    private func send() async {
        while let items = await outbox.take() {
            let messages = items.compactMap { item in
                if case .frame(let text) = item { SocketMessage.text(text) } else { nil }
            }
            guard (try? await socket.send(messages)) != nil else { return }
        }
    }

    /// The page reads the code, and asks for another name.
    func close(_ code: UInt16, _ why: String) { socket.close(code: code, reason: why) }

    func say(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.object(write)
        say(writer.bytes)
    }

    func say(_ text: [UInt8]) {
        if !outbox.add(.frame(text)) { socket.kill() }
    }

    private func take(_ verb: String, _ order: JSON) {
        switch verb {
        case "ping": say { $0.member("on", "pong") }
        case "hello": enter(order)
        default:
            guard identity != "" else { return refuse(order, "say who you are first") }
            perform(verb, order)
        }
    }

    /// `isForNow` tells the page to try again by itself.
    func refuse(_ order: JSON, _ why: String, isForNow: Bool = false, needs proof: String? = nil) {
        say { writer in
            writer.member("on", "error")
            if let number = order["n"]?.int { writer.member("n", number) }
            writer.member("text", why)
            if isForNow { writer.member("later", true) }
            if let proof { writer.member("needs", proof) }
        }
    }

    private func leave() {
        door.hall.unwatch(self)
        let identity = identity
        guard identity != "" else { return }
        door.hall.take { _ in
            { audience in
                audience.leave(self)
                guard audience.listeners(of: identity).isEmpty else { return }
                self.door.hall.take { world in
                    world.setOnline(false, identity, at: .now)
                    return nil
                }
            }
        }
    }
}
