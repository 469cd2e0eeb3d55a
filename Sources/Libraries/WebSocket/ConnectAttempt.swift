import CCurl
import Glibc

/// One attempt to open a WebSocket, on a thread of its own: name, TCP, proxy, TLS and upgrade may all take their time.
final class ConnectAttempt: Sendable {
    struct Opened: Sendable {
        let connection: CurlConnection
        let early: [UInt8]
        let subprotocol: String?
    }

    typealias Outcome = Result<Opened, WebSocketError>

    private let address: SocketAddress
    private let request: [UInt8]
    private let key: String
    private let subprotocols: [String]
    private let trusting: String?
    private let deadline: Double
    private let state = Guarded(State())

    private struct State {
        var isOver = false
        var continuation: CheckedContinuation<Outcome, Never>?
        /// To wake the thread; nil while it does not wait there.
        var connection: CurlConnection?
    }

    init(
        _ address: SocketAddress, headers: [(String, String)], subprotocols: [String], trusting: String?,
        timeout: Duration
    ) throws(WebSocketError) {
        self.address = address
        self.subprotocols = subprotocols
        self.trusting = trusting
        key = Handshake.newKey()
        request = try Handshake.request(address, key: key, headers: headers, subprotocols: subprotocols)
        deadline = monotonicSeconds() + timeout.inSeconds
    }

    func run() async throws(WebSocketError) -> Opened {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.with { state in
                    if Task.isCancelled || state.isOver { return true }
                    state.continuation = continuation
                    return false
                }
                if isCancelled {
                    continuation.resume(returning: .failure(.cancelled))
                } else if !startThread("connect", { self.work() }) {
                    finish(.failure(.init(.exhausted, "cannot connect to \(address.name): no more threads")))
                }
            }
        } onCancel: {
            finish(.failure(.cancelled))
        }
        return try outcome.get()
    }

    /// The first outcome counts. The caller goes on at once; the thread may still have to wait for a name server.
    private func finish(_ outcome: Outcome) {
        let continuation = state.with { state in
            state.isOver = true
            if let connection = state.connection { curl_multi_wakeup(connection.multi) }
            let continuation = state.continuation
            state.continuation = nil
            return continuation
        }
        continuation?.resume(returning: outcome)
    }

    // MARK: - On the thread

    private func work() {
        let outcome: Outcome
        do throws(WebSocketError) { outcome = .success(try open()) } catch { outcome = .failure(error) }
        state.with { $0.connection = nil }
        finish(outcome)
    }

    private func open() throws(WebSocketError) -> Opened {
        guard let connection = CurlConnection() else {
            throw WebSocketError(
                .exhausted, "cannot connect to \(address.name): no more descriptors or memory")
        }
        state.with { $0.connection = connection }
        try connect(connection)
        try upgrade(connection)
        let (head, early) = try readAnswer(connection)
        let subprotocol = try Handshake.check(
            head, key: key, subprotocols: subprotocols, name: address.name)
        return Opened(connection: connection, early: early, subprotocol: subprotocol)
    }

    private func connect(_ connection: CurlConnection) throws(WebSocketError) {
        let easy = connection.easy
        ccurl_set_string(easy, CURLOPT_URL, address.connectURL)
        ccurl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
        ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        ccurl_keep_sockets(easy)
        ccurl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        // A proxy must not read along, nor understand WebSocket.
        ccurl_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
        ccurl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        // Our own deadline ends it; libcurl's default would be sooner than a long one of ours.
        ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 86_400_000)
        if let trusting { ccurl_set_string(easy, CURLOPT_CAINFO, trusting) }
        guard curl_multi_add_handle(connection.multi, easy) == CURLM_OK else {
            throw WebSocketError(.exhausted, "cannot connect to \(address.name): out of memory")
        }
        var code = CURLE_OK
        while true {
            var running: Int32 = 0
            curl_multi_perform(connection.multi, &running)
            if ccurl_multi_next_done(connection.multi, &code) != nil { break }
            try wait(connection, for: -1, writing: false)
        }
        guard code == CURLE_OK else { throw error(code, connection.reason(code)) }
        guard connection.findDescriptor() else {
            throw WebSocketError(.unreachable, "\(address.name) left at once")
        }
        var on: Int32 = 1
        setsockopt(
            connection.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func upgrade(_ connection: CurlConnection) throws(WebSocketError) {
        var sent = 0
        while sent < request.count {
            let moved = request.withUnsafeBytes { bytes in
                connection.write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            }
            switch moved {
            case .bytes(let count): sent += count
            case .wait: try wait(connection, for: connection.descriptor, writing: true)
            case .end: throw left("")
            case .failed(let reason): throw left(": " + reason)
            }
        }
    }

    private func readAnswer(_ connection: CurlConnection) throws(WebSocketError) -> (AnswerHead, [UInt8]) {
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            switch piece.withUnsafeMutableBytes({ connection.read($0) }) {
            case .bytes(let count):
                answer += piece[..<count]
                guard let (head, length) = try AnswerHead.read(answer) else { continue }
                return (head, Array(answer[length...]))
            case .wait: try wait(connection, for: connection.descriptor, writing: false)
            case .end: throw left("")
            case .failed(let reason): throw left(": " + reason)
            }
        }
    }

    private func left(_ reason: String) -> WebSocketError {
        WebSocketError(.unreachable, "\(address.name) left without answering the upgrade\(reason)")
    }

    private func wait(
        _ connection: CurlConnection, for descriptor: Int32, writing: Bool
    ) throws(WebSocketError) {
        if state.with({ $0.isOver }) { throw .cancelled }
        let left = deadline - monotonicSeconds()
        guard left > 0 else { throw WebSocketError(.timeout, "\(address.name) took too long to answer") }
        _ = ccurl_multi_poll(
            connection.multi, descriptor, writing ? 1 : 0, Int32(min(left * 1_000 + 1, 60_000)))
    }

    private func error(_ code: CURLcode, _ reason: String) -> WebSocketError {
        let text = "\(address.name): \(reason)"
        switch code {
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return WebSocketError(.tls, text)
        case CURLE_OPERATION_TIMEDOUT: return WebSocketError(.timeout, text)
        case CURLE_OUT_OF_MEMORY: return WebSocketError(.exhausted, text)
        default: return WebSocketError(.unreachable, text)
        }
    }
}
