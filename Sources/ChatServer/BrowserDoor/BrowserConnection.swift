internal import Chat
internal import Crypto
internal import JSON
internal import WebSocket

/// One person's page, from the first word to the last.
final class BrowserConnection: Sendable {
    let door: BrowserDoor
    let outbox = Outbox()
    private let socket: WebSocket
    let state = Locked(State())

    struct State: Sendable {
        /// Empty until they said who they are.
        var identity = ""
        /// Where they are a member, as far as they have been told.
        var joined: Set<SID> = []
    }

    init(_ socket: WebSocket, door: BrowserDoor) {
        self.socket = socket
        self.door = door
    }

    func run() async {
        async let sending: Void = send()
        say { writer in
            writer.member("on", "hello")
            writer.member("secret", door.settings.secret != nil)
        }
        while let messages = try? await socket.receive() {
            for message in messages {
                guard case .text(let bytes) = message, let order = try? JSON(parsing: bytes),
                    let verb = order["do"]?.string
                else {
                    say { $0.member("on", "error") }
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

    func refuse(_ order: JSON, _ why: String) {
        say { writer in
            writer.member("on", "error")
            if let number = order["n"]?.int { writer.member("n", number) }
            writer.member("text", why)
        }
    }

    /// `{"do":"hello","name":"ana"}`: answered with all that they may see.
    private func enter(_ order: JSON) {
        guard identity == "" else { return refuse(order, "you are \(identity) already") }
        if let secret = door.settings.secret, !constantTimeEqual(order["secret"]?.string ?? "", secret) {
            return refuse(order, "the password is wrong")
        }
        let name = order["name"]?.string ?? ""
        guard Self.isName(name) else {
            return refuse(order, "a name has 1 to 40 characters, no blank at either end and no line breaks")
        }
        state.withLock { $0.identity = name }
        let now = Timestamp.now
        door.hall.take { world in
            _ = try? world.user(name, at: now)
            world.setOnline(true, name, at: now)
            let joined = world.memberships(of: name).filter { $0.status == .joined }.map(\.channel)
            let shapes = BrowserShapes(identity: name)
            let welcome = shapes.welcome(world)
            return { audience in
                self.state.withLock { $0.joined = Set(joined) }
                audience.enter(self, hearsAll: true)
                self.say(welcome)
            }
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...40).contains(name.count) && name.first?.isWhitespace == false && name.last?.isWhitespace == false
            && name.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
                // Invisible marks make one name look like another.
                case .format: scalar == "\u{200D}"
                default: true
                }
            }
    }

    private func leave() {
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
