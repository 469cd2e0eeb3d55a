internal import Chat
internal import JSON
internal import WebSocket

/// Hears answers through the door for browsers, and notes when they came.
final class Listener: Sendable {
    private let socket: WebSocket
    private let heard = Locked<[Int: Double]>([:])
    private let joined = Locked(0)

    /// Joins the channels as one more member and listens while the body runs.
    static func run(
        _ world: ChatWorld, to author: String, _ body: (Listener) async throws -> Void
    ) async throws {
        let socket = try await WebSocket.connect(
            to: world.address.pageURL, headers: [("Origin", world.address.url)], on: world.tools.loop)
        let listener = Listener(socket)
        async let reading: Void = listener.read(author)
        defer { socket.kill() }
        let hello: JSON = ["do": "hello", "name": "listener"]
        try await socket.send(.text(hello.bytes()))
        for channel in world.channels {
            let order: JSON = ["do": "join", "channel": .string(channel), "n": 1]
            try await socket.send(.text(order.bytes()))
        }
        try await listener.wait(for: world.channels.count)
        try await body(listener)
        socket.kill()
        await reading
    }

    private init(_ socket: WebSocket) { self.socket = socket }

    /// When the answer to that question was heard.
    func time(of question: Int) -> Double? { heard.withLock { $0[question] } }

    private func wait(for channels: Int) async throws {
        for _ in 0..<2000 where joined.withLock({ $0 }) < channels {
            try await Task.sleep(for: .milliseconds(5))
        }
        guard joined.withLock({ $0 }) >= channels else { throw BenchError("the listener cannot join") }
    }

    private func read(_ author: String) async {
        let json = JSONReader()
        while let messages = try? await socket.receive() {
            let now = Stopwatch.now
            for case .text(let bytes) in messages {
                try? json.read(bytes) { node in
                    guard let kind = node["on"] else { return }
                    // An `error` says that we are in that channel already.
                    if kind.equals("done") || kind.equals("error") { joined.withLock { $0 += 1 } }
                    guard kind.equals("message"), node["message"]?["author"]?.equals(author) == true,
                        let text = node["message"]?["text"]?.string, let number = Question.number(in: text)
                    else { return }
                    heard.withLock { heard in
                        if heard[number] == nil { heard[number] = now }
                    }
                }
            }
        }
    }
}
