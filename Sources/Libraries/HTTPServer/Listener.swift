import Glibc
import WebSocket

/// Opens a socket that takes connections; the system chooses the port when it is 0. May wait for a name server.
func listen(host: String, port: UInt16) throws(HTTPServerError) -> (descriptor: Int32, port: UInt16) {
    let name = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0 else {
        let reason = String(cString: gai_strerror(status)).lowercased()
        throw HTTPServerError(kind: .badAddress, text: "cannot listen on \(name): \(reason)")
    }
    defer { freeaddrinfo(found) }
    var addresses: [addrinfo] = []
    var next = found
    while let address = next {
        addresses.append(address.pointee)
        next = address.pointee.ai_next
    }
    // A name such as localhost may stand for both families; what clients try last is still IPv4.
    guard let address = addresses.first(where: { $0.ai_family == AF_INET }) ?? addresses.first else {
        throw HTTPServerError(kind: .badAddress, text: "cannot listen on \(name): it has no address")
    }
    return try open(address, name)
}

private func open(_ address: addrinfo, _ name: String) throws(HTTPServerError) -> (Int32, UInt16) {
    let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.ai_family, flags, 0)
    guard descriptor >= 0 else { throw failure(name) }
    var on: Int32 = 1
    var off: Int32 = 0
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    // "::" means every address, IPv4 ones as well.
    if address.ai_family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, size) }
    guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, Glibc.listen(descriptor, 1_024) == 0
    else {
        let error = failure(name)
        Glibc.close(descriptor)
        throw error
    }
    var bound = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = withUnsafeMutablePointer(to: &bound) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
        // The port is at the same place for both families.
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            UInt16(bigEndian: $0.pointee.sin_port)
        }
    }
    return (descriptor, port)
}

private func failure(_ name: String) -> HTTPServerError {
    let code = errno
    let kind: HTTPServerError.Kind =
        switch code {
        case EADDRINUSE: .addressInUse
        case EACCES, EPERM: .notPermitted
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: .exhausted
        default: .badAddress
        }
    return HTTPServerError(kind: kind, text: "cannot listen on \(name): \(systemError(code))")
}

/// `address:port` in digits.
func name(of address: UnsafePointer<sockaddr>) -> String {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let length =
        address.pointee.sa_family == sa_family_t(AF_INET6)
        ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    let flags = NI_NUMERICHOST | NI_NUMERICSERV
    let status = getnameinfo(
        address, socklen_t(length), &host, socklen_t(host.count), &port, socklen_t(port.count), flags)
    guard status == 0 else { return "unknown" }
    func text(_ bytes: [CChar]) -> String {
        String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let digits = text(host)
    return digits.contains(":") ? "[\(digits)]:\(text(port))" : "\(digits):\(text(port))"
}
