import CMicroHTTPD
import Glibc
import WebSocket

/// One request's steps, on libmicrohttpd's thread.
extension ServerCore {
    func takeHead(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        exchange.stage = .body
        forgetHead(exchange)
        if let client = exchange.client { begin(client.descriptor) }
        let fields = Unmanaged.passUnretained(exchange).toOpaque()
        MHD_get_connection_values_n(connection, .HEADER_KIND, noteField, fields)
        guard cmhd_head_size(connection) <= limits.head, exchange.headers.count <= limits.fields else {
            return refuse(431, "too many or too long header fields\n", exchange, connection)
        }
        let hosts = exchange.headers.count { $0.name.lowercased() == "host" }
        guard hosts == 1 || (hosts == 0 && !exchange.isModern) else {
            return refuse(400, "a request names its host, once\n", exchange, connection)
        }
        let lengths = exchange.headers.filter { $0.name.lowercased() == "content-length" }
        let codings = exchange.headers.filter { $0.name.lowercased() == "transfer-encoding" }
        // Two opinions of where the body ends: someone between us and the client may have the other one.
        if Set(lengths.map(\.value)).count > 1 || (!codings.isEmpty && !lengths.isEmpty) {
            return refuse(400, "the body's length is ambiguous\n", exchange, connection)
        }
        // libmicrohttpd would take the rest of the connection for the body.
        guard codings.isEmpty || codings.map({ $0.value.lowercased() }) == ["chunked"] else {
            return refuse(501, "only the chunked coding is known\n", exchange, connection)
        }
        if let length = lengths.first, UInt64(length.value) ?? .max > UInt64(limits.body) {
            return refuse(413, "the body is too large\n", exchange, connection)
        }
        return .YES
    }

    /// libmicrohttpd 0.9.75 writes the head of its own answer to a length that is no number twice. So ours goes out
    /// first, and nothing after it.
    func refuseUnreadableLengths() {
        for head in heads {
            guard let descriptor = head.exchange.client?.descriptor else { continue }
            head.exchange.headers = []
            MHD_get_connection_values_n(
                head.connection, .HEADER_KIND, noteField, Unmanaged.passUnretained(head.exchange).toOpaque())
            let lengths = head.exchange.headers.filter { $0.name.lowercased() == "content-length" }.map(
                \.value)
            head.exchange.headers = []
            let isNumber = lengths.allSatisfy { length in
                !length.isEmpty
                    && length.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
            guard !isNumber || lengths.contains(where: { UInt64($0) == nil }) else { continue }
            let (status, text) =
                isNumber
                ? ("413 Content Too Large", "the body is too large\n")
                : ("400 Bad Request", "the body's length is no number\n")
            let answer = Array(
                """
                HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\
                Content-Length: \(text.utf8.count)\r\n\r\n\(text)
                """.utf8)
            forgetHead(head.exchange)
            _ = send(descriptor, answer, answer.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            Glibc.shutdown(descriptor, Int32(SHUT_WR))
        }
    }

    func takeBody(_ exchange: Exchange, _ piece: UnsafeRawBufferPointer) -> MHD_Result {
        if exchange.surplus == 0, exchange.body.count + piece.count <= limits.body {
            exchange.body.append(contentsOf: piece)
            return .YES
        }
        // An answer can be given only at the end of a body, so the rest is thrown away, but not for ever.
        exchange.surplus += exchange.body.count + piece.count
        exchange.body = []
        return exchange.surplus > limits.body * 2 + (1 << 20) ? .NO : .YES
    }

    /// libmicrohttpd 0.9.75 reads from a resumed connection if it was waiting for input when it was suspended, and
    /// closes it when the client has nothing more to send, which may well wait for its answer. Asked for the answer
    /// and given none it stops waiting for input and asks again, and then it may be suspended.
    func noteEnd(_ exchange: Exchange) {
        exchange.stage = .whole
        if let client = exchange.client { suspendDeadline(client.descriptor) }
    }

    func takeEnd(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        guard exchange.surplus == 0 else {
            return refuse(413, "the body is too large\n", exchange, connection)
        }
        exchange.stage = .handling
        MHD_suspend_connection(connection)
        handle(exchange.request(), on: connection, reply: exchange.reply)
        return .YES
    }

    func reply(_ reply: HTTPReply, to exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        switch reply {
        case .answer(let status, let headers, let body):
            return answer(status, headers, body, exchange, connection)
        case .webSocket(let subprotocol, let headers, let serve):
            return upgrade(subprotocol, headers, serve, exchange, connection)
        }
    }

    private func refuse(
        _ status: Int, _ text: String, _ exchange: Exchange, _ connection: OpaquePointer
    ) -> MHD_Result {
        let headers = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")]
        return answer(status, headers, Array(text.utf8), exchange, connection)
    }

    private func answer(
        _ status: Int, _ headers: [(String, String)], _ body: [UInt8], _ exchange: Exchange,
        _ connection: OpaquePointer
    ) -> MHD_Result {
        guard (200...999).contains(status), let response = response(body) else {
            return refuse(500, "the program's answer has no valid status\n", exchange, connection)
        }
        defer { MHD_destroy_response(response) }
        for (name, value) in headers {
            // Where the body ends is not for the handler to say.
            if ["content-length", "transfer-encoding"].contains(name.lowercased()) { continue }
            guard MHD_add_response_header(response, name, value) == .YES else {
                return refuse(500, "the program's answer has an invalid header field\n", exchange, connection)
            }
        }
        if isStopping { MHD_add_response_header(response, "Connection", "close") }
        exchange.stage = .answered
        if let client = exchange.client { expectTaking(client.descriptor) }
        return MHD_queue_response(connection, UInt32(status), response)
    }

    private func response(_ body: [UInt8]) -> OpaquePointer? {
        if body.count <= 16 << 10 {
            return body.withUnsafeBytes { bytes in
                // Not written to, as it is copied at once.
                let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                return MHD_create_response_from_buffer(bytes.count, start, .RESPMEM_MUST_COPY)
            }
        }
        // Read from the one array in slices, however many clients are slow to take theirs.
        let source = Unmanaged.passRetained(BodySource(body))
        let response = MHD_create_response_from_callback(
            UInt64(body.count), 64 << 10,
            { source, position, buffer, space in
                guard let source, let buffer else { return -1 }
                let body = Unmanaged<BodySource>.fromOpaque(source).takeUnretainedValue().bytes
                let count = min(space, body.count - Int(position))
                guard count > 0 else { return -1 }
                body.withUnsafeBytes { bytes in
                    guard let start = bytes.baseAddress else { return }
                    buffer.withMemoryRebound(to: UInt8.self, capacity: count) {
                        UnsafeMutableRawPointer($0).copyMemory(from: start + Int(position), byteCount: count)
                    }
                }
                return count
            }, source.toOpaque(),
            { source in if let source { Unmanaged<BodySource>.fromOpaque(source).release() } })
        if response == nil { source.release() }
        return response
    }

    private func upgrade(
        _ subprotocol: String?, _ headers: [(String, String)],
        _ serve: @escaping @Sendable (WebSocket) async -> Void, _ exchange: Exchange,
        _ connection: OpaquePointer
    ) -> MHD_Result {
        let request = HTTPRequest(method: exchange.method, target: exchange.target, headers: exchange.headers)
        guard exchange.isModern, let accept = request.webSocketAccept else {
            if request.asksForUpgrade, request.header("Sec-WebSocket-Version") != "13" {
                let version = [("Sec-WebSocket-Version", "13")]
                return answer(426, version, Array("WebSocket version 13 only\n".utf8), exchange, connection)
            }
            return answer(400, [], Array("this is no request for a WebSocket\n".utf8), exchange, connection)
        }
        if let subprotocol, !request.subprotocols.contains(subprotocol) {
            return answer(400, [], Array("no common subprotocol\n".utf8), exchange, connection)
        }
        guard
            let response = MHD_create_response_for_upgrade(
                takeSocket, Unmanaged.passUnretained(self).toOpaque())
        else { return .NO }
        defer { MHD_destroy_response(response) }
        var fields = headers + [("Upgrade", "websocket"), ("Sec-WebSocket-Accept", accept)]
        if let subprotocol { fields.append(("Sec-WebSocket-Protocol", subprotocol)) }
        for (name, value) in fields where MHD_add_response_header(response, name, value) != .YES {
            return refuse(500, "the program's answer has an invalid header field\n", exchange, connection)
        }
        exchange.upgrade = .init(subprotocol: subprotocol, serve: serve)
        exchange.stage = .answered
        if let client = exchange.client { client.isUpgraded = true }
        return MHD_queue_response(connection, UInt32(MHD_HTTP_SWITCHING_PROTOCOLS), response)
    }

    /// A close by libmicrohttpd with input unread would make the client lose our last answer. A second descriptor
    /// keeps the connection until the client has left.
    func linger(_ descriptor: Int32) {
        guard !isStopping else { return }
        var byte: UInt8 = 0
        // The client has left, or the connection is broken.
        let peeked = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if peeked == 0 || (peeked < 0 && errno != EAGAIN) { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        Glibc.shutdown(copy, Int32(SHUT_WR))
        loop.linger(copy, for: .seconds(2))
    }
}

private final class BodySource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

private func noteField(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameSize: Int,
    _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
    guard let context, let name else { return .NO }
    func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
    }
    Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        .headers.append((text(name, nameSize), text(value, valueSize)))
    return .YES
}
