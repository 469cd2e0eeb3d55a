import CCurl

/// One request inside libcurl. Belongs to the loop's thread.
final class Transfer {
    let order: TransferOrder
    let easy: UnsafeMutableRawPointer
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    private var sent = 0
    private var headers: [(name: String, value: String)] = []
    private var headBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false

    /// nil when there is no memory.
    init?(_ order: TransferOrder) {
        guard let easy = curl_easy_init() else { return nil }
        self.order = order
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setUp()
        setMethod()
        setHeaders()
        setCallbacks()
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(fields)
        errorText.deallocate()
    }

    // MARK: - The request

    private func setUp() {
        ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        ccurl_set_string(easy, CURLOPT_URL, order.request.url)
        ccurl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        ccurl_keep_sockets(easy)
        ccurl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // A cancelled request must not wait for a name server, as it would keep all others waiting too.
        ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        ccurl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
        ccurl_set_string(easy, CURLOPT_USERAGENT, "steward")
        let seconds = order.request.timeout.components
        let milliseconds =
            min(max(seconds.seconds, 0), 1_000_000) * 1_000 + seconds.attoseconds / 1_000_000_000_000_000
        // 0 would mean for ever.
        ccurl_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, Int(milliseconds)))
        ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(milliseconds)))
        if let trusting = order.trusting { ccurl_set_string(easy, CURLOPT_CAINFO, trusting) }
    }

    private func setMethod() {
        let method = order.request.method
        let mayBeRepeated = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"].contains(method)
        if method == "HEAD" {
            ccurl_set_long(easy, CURLOPT_NOBODY, 1)
        } else if let body = order.request.body ?? (["POST", "PUT", "PATCH"].contains(method) ? [] : nil) {
            ccurl_set_long(easy, CURLOPT_POST, 1)
            ccurl_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count)
            // Where a kept connection breaks libcurl sends the request again by itself if it can go back to the body's
            // begin. Only what may be done twice gets that.
            if mayBeRepeated {
                ccurl_set_seek(easy) { context, offset, origin in
                    guard let context, origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_CANTSEEK) }
                    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().sent = Int(offset)
                    return Int32(CURL_SEEKFUNC_OK)
                }
            } else if body.isEmpty {
                ccurl_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
            }
        }
        ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, method)
    }

    private func setHeaders() {
        for (name, value) in order.request.headers {
            // libcurl takes "Name:" as the wish to leave the field out, and "Name;" as an empty one.
            fields = curl_slist_append(fields, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // What libcurl would add by itself.
        for name in ["Expect", "Content-Type"]
        where !order.request.headers.contains(where: { $0.0.lowercased() == name.lowercased() }) {
            fields = curl_slist_append(fields, "\(name):")
        }
        ccurl_set_headers(easy, fields)
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA] {
            ccurl_set_pointer(easy, option, context)
        }
        ccurl_set_function(easy, CURLOPT_READFUNCTION) { buffer, size, count, context in
            guard let context, let buffer else { return Int(CURL_READFUNC_ABORT) }
            return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
                .give(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        }
        ccurl_set_function(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
                .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_function(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let context else { return 0 }
            return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
                .takeField(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    private func give(_ space: UnsafeMutableRawBufferPointer) -> Int {
        guard let body = order.request.body else { return 0 }
        let count = min(space.count, body.count - sent)
        guard count > 0 else { return 0 }
        body.withUnsafeBytes {
            space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count]))
        }
        sent += count
        return count
    }

    // MARK: - The answer

    private func take(_ piece: UnsafeRawBufferPointer) -> Int {
        guard body.count + piece.count <= order.request.maximumAnswer else {
            isTooLarge = true
            return 0
        }
        body.append(contentsOf: piece)
        return piece.count
    }

    private func takeField(_ line: UnsafeRawBufferPointer) -> Int {
        headBytes += line.count
        guard headBytes <= 256 << 10 else {
            isTooLarge = true
            return 0
        }
        if line.starts(with: "HTTP/".utf8) {
            // Another head: the one before was of an interim answer.
            headers = []
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let space: Set<UInt8> = [0x20, 0x09, 0x0D, 0x0A]
            let value = line[(colon + 1)...].drop { space.contains($0) }
            let length = value.reversed().drop { space.contains($0) }.count
            headers.append(
                (
                    String(decoding: line[..<colon], as: UTF8.self),
                    String(decoding: value.prefix(length), as: UTF8.self)
                ))
        }
        return line.count
    }

    /// What came of it, as libcurl's result says.
    func outcome(_ code: CURLcode) -> TransferOrder.Outcome {
        let host = order.host
        if isTooLarge {
            let limit = order.request.maximumAnswer
            return .failure(
                HTTPError(
                    .tooLarge, "\(host): the answer is larger than \(limit) bytes", mayHaveArrived: true))
        }
        var status = 0
        ccurl_get_status(easy, &status)
        if code == CURLE_OK {
            return .success(IncomingAnswer(status: status, headers: headers, body: body))
        }
        let said = String(cString: errorText)
        let reason = said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
        return .failure(HTTPError(kind(code), "\(host): \(reason)", mayHaveArrived: ccurl_get_sent(easy) > 0))
    }

    private func kind(_ code: CURLcode) -> HTTPError.Kind {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            .tls
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .badURL
        default: .unreachable
        }
    }
}
