import CSockets
import Glibc

/// A listener as the loop sees it.
struct Accepting {
    let listener: SocketListener
    private var isFull = false
    /// The system had no more descriptors; until then there is no use in asking again.
    private(set) var pausedUntil: Double?
    /// When that was last said.
    private var told: Double?

    init(_ listener: SocketListener) {
        self.listener = listener
    }

    /// Takes this turn's share of connections. True when there may be more at once.
    mutating func accept(now: Double) -> Bool {
        if let until = pausedUntil {
            if now < until { return false }
            pausedUntil = nil
        }
        if isFull { return false }
        for _ in 0..<64 {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let descriptor = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sockets_accept(listener.descriptor, $0, &length)
                }
            }
            guard descriptor >= 0 else {
                switch errno {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    let why = systemError()
                    pausedUntil = now + 1
                    if told.map({ now - $0 >= 60 }) ?? true {
                        told = now
                        listener.onShortage(why)
                    }
                    return false
                // The client left before we came to it.
                case ECONNABORTED, EINTR, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT: continue
                default: return false
                }
            }
            isFull = !withUnsafeBytes(of: &address) { bytes in
                bytes.baseAddress.map { listener.take(descriptor, $0, length) } ?? true
            }
            if isFull { return false }
        }
        return true
    }

    mutating func makeRoom() {
        isFull = false
    }

    func close() {
        Glibc.close(listener.descriptor)
    }
}
