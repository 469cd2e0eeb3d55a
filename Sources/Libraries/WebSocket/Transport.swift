import CCurl
import CSockets
import Glibc

/// What carries a socket's bytes. Belongs to the loop; does not wait.
enum Transport: Sendable {
    /// A socket that another library opened. `release` gives it back, after which it must not be used.
    case descriptor(Int32, release: @Sendable () -> Void)
    case curl(CurlConnection)

    enum Moved: Sendable {
        case bytes(Int)
        case wait
        case end
        case failed(String)
    }

    var descriptor: Int32 {
        switch self {
        case .descriptor(let descriptor, _): descriptor
        case .curl(let connection): connection.descriptor
        }
    }

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Moved {
        switch self {
        case .descriptor(let descriptor, _):
            let count = sockets_receive(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            return Self.moved(errno)
        case .curl(let connection):
            return connection.read(buffer)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Moved {
        switch self {
        case .descriptor(let descriptor, _):
            let count = sockets_send(descriptor, bytes.baseAddress, bytes.count)
            return count >= 0 ? .bytes(count) : Self.moved(errno)
        case .curl(let connection):
            return connection.write(bytes)
        }
    }

    /// We have said all; the peer reads an end after it.
    func finishWriting() {
        if case .descriptor(let descriptor, _) = self { Glibc.shutdown(descriptor, Int32(SHUT_WR)) }
    }

    func release() {
        if case .descriptor(_, let release) = self { release() }
    }

    private static func moved(_ code: Int32) -> Moved {
        code == EAGAIN || code == EINTR ? .wait : .failed(systemError(code))
    }
}
