import Foundation
import Glibc
import JSON
import WebSocket

/// The built program as `steward server`, in a process of its own.
final class ChatServerProcess {
    let port: UInt16
    private let process = Process()

    struct NotThere: Error {}

    /// Returns once it listens, on a port that was free.
    init(state: String) async throws {
        process.executableURL = try Self.program()
        process.arguments = ["server", "--listen", "127.0.0.1:0", "--state", state]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        port = try await Self.port(in: errors)
    }

    deinit { if process.isRunning { kill() } }

    /// As a power cut would end it, but for the disk.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Beside the bundle of the tests.
    static func program() throws -> URL {
        let bundle = CommandLine.arguments.first { $0.contains("stewardPackageTests.xctest") }
        guard let bundle else { throw NotThere() }
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: "steward")
    }

    /// From the line in which it says so; the rest is read away, so that it never waits for us.
    private static func port(in errors: Pipe) async throws -> UInt16 {
        let (ports, port) = AsyncStream.makeStream(of: UInt16.self)
        Thread.detachNewThread {
            var text = ""
            while case let data = errors.fileHandleForReading.availableData, !data.isEmpty {
                text = String((text + String(decoding: data, as: UTF8.self)).suffix(1000))
                if let match = text.firstMatch(of: /http:..127\.0\.0\.1:([0-9]+)\D/),
                    let number = UInt16(match.1)
                {
                    port.yield(number)
                }
            }
            port.finish()
        }
        for await port in ports { return port }
        throw NotThere()
    }
}

/// A person's page at a chat server's process.
actor PageLine {
    private let socket: WebSocket

    init(port: UInt16, name: String, loop: SocketLoop) async throws {
        let host = "127.0.0.1:\(port)"
        socket = try await WebSocket.connect(
            to: "ws://\(host)/browser", headers: [("Origin", "http://\(host)")], on: loop)
        try await say(["do": "hello", "name": .string(name)])
        while try await hear()?.contains(where: { $0["on"] == "welcome" }) == false {}
    }

    func say(_ order: JSON) async throws { try await socket.send(.text(order.bytes())) }

    /// What has come, at least one word; nil when the line is over.
    func hear() async throws -> [JSON]? {
        try await socket.receive()?.map { try JSON(parsing: $0.bytes) }
    }

    func answer(to n: Int64) async throws -> JSON {
        while let words = try await hear() {
            if let word = words.first(where: { $0["n"]?.int == n }) { return word }
        }
        throw ChatServerProcess.NotThere()
    }
}
