import Chat
import Foundation
import Glibc
import JSON
import WebSocket

/// The built program as `steward server`, in a process of its own.
final class ChatServerProcess {
    let port: UInt16
    /// What it wrote.
    let transcript = Transcript()
    private let process = Process()

    struct NotThere: Error {}

    /// Returns once it listens, on a port that was free. `descriptors`: so many it may have open.
    init(state: String, descriptors: Int? = nil) async throws {
        process.executableURL = URL(filePath: "/bin/sh")
        let limit = descriptors.map { "ulimit -n \($0); " } ?? ""
        process.arguments = [
            "-c", limit + "exec \"$@\"", "sh", try Program.file().path(), "server", "--listen",
            "127.0.0.1:0", "--state", state,
        ]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let transcript = transcript
        errors.readLines({ transcript.log.info($0) }, end: transcript.end)
        await transcript.wait(for: "the chat server is open at")
        let ports = transcript.lines.compactMap { $0.firstMatch(of: /http:..127\.0\.0\.1:([0-9]+)/)?.1 }
        guard let port = ports.first.flatMap({ UInt16($0) }) else { throw NotThere() }
        self.port = port
    }

    deinit { if process.isRunning { kill() } }

    /// As a power cut would end it, but for the disk.
    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
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
