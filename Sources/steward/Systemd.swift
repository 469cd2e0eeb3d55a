internal import Glibc
internal import WebSocket

/// Tells systemd how we are, over the datagram socket it names in the environment; silent without systemd.
struct Systemd: Sendable {
    private let socketPath: String?

    init(environment: [String: String]) {
        socketPath = environment["NOTIFY_SOCKET"]
        watchdogInterval = Self.watchdogInterval(environment)
    }

    /// How often the watchdog wants to be fed: half of what the unit's `WatchdogSec=` says.
    let watchdogInterval: Duration?

    func ready(_ status: String) { notify("READY=1\nSTATUS=\(line(status))") }
    func status(_ status: String) { notify("STATUS=\(line(status))") }
    /// The start takes longer, and is well all the same.
    func starting() { notify("EXTEND_TIMEOUT_USEC=120000000") }
    func watchdog() { notify("WATCHDOG=1") }
    func stopping() { notify("STOPPING=1\nSTATUS=stopping: sending what is waiting") }

    /// Over with the next `ready`; the time is what units of the type `notify-reload` want.
    func reloading() {
        let microseconds = Int64(monotonicSeconds() * 1_000_000)
        notify("RELOADING=1\nMONOTONIC_USEC=\(microseconds)\nSTATUS=reading rules and configuration anew")
    }

    /// A status is one line.
    private func line(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }

    private func notify(_ text: String) {
        guard let socketPath, !socketPath.isEmpty else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socketPath.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // A leading @ stands for a name outside the file system.
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)

        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }

    private static func watchdogInterval(_ environment: [String: String]) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        // The variable is inherited by children for whom it is not meant.
        if let process = environment["WATCHDOG_PID"], process != "\(getpid())" { return nil }
        return .microseconds(microseconds / 2)
    }
}
