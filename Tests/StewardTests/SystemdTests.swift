import Foundation
import Glibc
import Testing

@testable import steward

@Suite struct SystemdNotices {
    /// A socket that listens as systemd does.
    final class Listener {
        let path = FileManager.default.temporaryDirectory.appending(path: "s-\(UUID().uuidString.prefix(8))")
            .path()
        private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)

        init() {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            _ = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
        }

        deinit {
            Glibc.close(descriptor)
            unlink(path)
        }

        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test func `systemd hears that we are ready, how we are, and that we live`() {
        let listener = Listener()
        let systemd = Systemd(environment: ["NOTIFY_SOCKET": listener.path])
        systemd.ready("twilio: up\nforged=1")
        #expect(listener.next() == "READY=1\nSTATUS=twilio: up forged=1")
        systemd.status("twilio: down: no route")
        #expect(listener.next() == "STATUS=twilio: down: no route")
        systemd.watchdog()
        #expect(listener.next() == "WATCHDOG=1")
    }

    @Test func `the watchdog is fed at half its time, and only by the process it watches`() {
        #expect(Systemd(environment: ["WATCHDOG_USEC": "60000000"]).watchdogInterval == .seconds(30))
        #expect(
            Systemd(environment: ["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "\(getpid())"])
                .watchdogInterval
                == .seconds(30))
        #expect(
            Systemd(environment: ["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"]).watchdogInterval == nil)
        #expect(Systemd(environment: ["WATCHDOG_USEC": "soon"]).watchdogInterval == nil)
    }
}

@Suite(.timeLimit(.minutes(1))) struct PeoplesWishes {
    @Test func `wishes come in order, and the second wish to stop is told apart`() async {
        let wishes = Wishes()
        #expect(wishes.add(.reload) == false)
        #expect(wishes.add(.stop) == false)
        #expect(wishes.add(.stop) == true)
        #expect(await wishes.next() == .reload)
        #expect(await wishes.next() == .stop)
    }

    @Test func `waiting for a wish ends when the task is cancelled`() async {
        let wishes = Wishes()
        let waiting = Task { await wishes.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }
}

@Suite struct Units {
    private func text(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "systemd/\(name)"), encoding: .utf8)
    }

    @Test
    func `the unit takes the folder of the configuration as it is made, and leaves exit status 78 alone`()
        throws
    {
        let unit = try text("steward.service")
        #expect(try text("steward.tmpfiles").contains("d /etc/steward 0750 "))
        for line in [
            "ConfigurationDirectory=steward", "ConfigurationDirectoryMode=0750", "Type=notify",
            "RestartPreventExitStatus=78",
        ] {
            #expect(unit.split(separator: "\n").contains(Substring(line)))
        }
    }
}
