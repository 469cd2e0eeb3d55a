import CCurl

/// A connection that libcurl opened, TLS and all. Used by one thread at a time: first the one that connects, then the
/// loop's. It closes itself.
final class CurlConnection: @unchecked Sendable {
    let easy: UnsafeMutableRawPointer
    let multi: UnsafeMutableRawPointer
    private(set) var descriptor: Int32 = -1
    private let errorText: UnsafeMutablePointer<CChar>

    /// nil when there is no memory, or no descriptor for libcurl's own pipe.
    init?() {
        guard curlIsReady, let easy = curl_easy_init() else { return nil }
        guard let multi = curl_multi_init() else {
            curl_easy_cleanup(easy)
            return nil
        }
        self.easy = easy
        self.multi = multi
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        curl_multi_cleanup(multi)
        errorText.deallocate()
    }

    /// What libcurl said about the last failure.
    func reason(_ code: CURLcode) -> String {
        let text = String(cString: errorText)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    /// To be called once connected. False when there is no socket after all.
    func findDescriptor() -> Bool {
        var socket: curl_socket_t = -1
        guard ccurl_get_socket(easy, &socket) == CURLE_OK, socket >= 0 else { return false }
        descriptor = socket
        return true
    }

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Transport.Moved {
        var count = 0
        let code = curl_easy_recv(easy, buffer.baseAddress, buffer.count, &count)
        switch code {
        case CURLE_OK: return count == 0 ? .end : .bytes(count)
        case CURLE_AGAIN: return .wait
        default: return .failed(reason(code))
        }
    }

    /// After `.wait` the same bytes must be given again from the same place: OpenSSL insists.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transport.Moved {
        var count = 0
        let code = curl_easy_send(easy, bytes.baseAddress, bytes.count, &count)
        switch code {
        case CURLE_OK: return .bytes(count)
        case CURLE_AGAIN: return .wait
        default: return .failed(reason(code))
        }
    }
}

/// libcurl is set up once, before its first use.
let curlIsReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
