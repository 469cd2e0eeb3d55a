import Foundation
import Glibc
import Testing
import WebSocket

@Suite(.timeLimit(.minutes(1))) struct FullChatServers {
    private struct NoLine: Error {}

    /// Connections of clients that say nothing.
    private func connect(_ count: Int, to port: UInt16) throws -> [Int32] {
        try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard status == 0 else { throw NoLine() }
            return descriptor
        }
    }

    @Test func `a server without descriptors says so, and lets people in again when others have left`()
        async throws
    {
        let state = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db").path()
        defer {
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: state + end) }
        }
        let server = try await ChatServerProcess(state: state, descriptors: 60)
        let crowd = try connect(100, to: server.port)
        let line = "chat server: nobody can be let in for now: too many open files"
        await server.transcript.wait(for: line)
        for descriptor in crowd { close(descriptor) }
        let loop = try SocketLoop()
        _ = try await PageLine(port: server.port, name: "ana", loop: loop)
        #expect(server.transcript.lines.count { $0.contains(line) } == 1)
        server.kill()
        await loop.shutdown(grace: .seconds(1))
    }
}
