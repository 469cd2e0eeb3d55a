import Testing

@testable import WebSocket

@Suite struct Handshakes {
    @Test func `a key is answered as the standard shows it`() {
        #expect(Handshake.accept(key: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(Handshake.accept(key: "dGhlIHNhbXBsZQ==") == nil)
        #expect(Handshake.accept(key: "no base64") == nil)
    }

    @Test func `keys are random`() {
        #expect(Set((0..<100).map { _ in Handshake.newKey() }).count == 100)
    }

    @Test func `the request carries what is needed, and the port unless it is the usual one`() throws {
        let request = try Handshake.request(
            SocketAddress("wss://tsock.example.com/v3?token=a%2Fb"), key: "abc",
            headers: [("Origin", "https://example.com")], subprotocols: ["one", "two"])
        #expect(
            String(decoding: request, as: UTF8.self)
                == """
                GET /v3?token=a%2Fb HTTP/1.1\r
                Host: tsock.example.com\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: abc\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Protocol: one, two\r
                Origin: https://example.com\r
                \r\n
                """.replacing("\r\n\n", with: "\r\n").replacing("\r\r\n", with: "\r\n"))
        #expect(try SocketAddress("ws://[::1]:8080").hostField == "[::1]:8080")
        #expect(try SocketAddress("ws://[::1]:8080").target == "/")
    }

    @Test(arguments: [
        ("example.com", "it has no scheme"), ("ftp://example.com/", "its scheme is not ws or wss"),
        ("ws:///x", "it is not a valid URL"), ("ws://a b/", "it is not a valid URL"),
        ("ws://me:secret@example.com/", "a name or password in it would not be used"),
        ("ws://example.com:99999/", "it is not a valid URL"),
    ])
    func `an address that cannot be used says why and keeps its secrets`(_ url: String, _ why: String) {
        let error = #expect(throws: WebSocketError.self) { try SocketAddress(url) }
        #expect(error == WebSocketError(.invalid, "cannot use the WebSocket address: \(why)"))
    }

    @Test func `a header cannot smuggle another one in`() {
        let error = #expect(throws: WebSocketError.self) {
            try Handshake.request(
                SocketAddress("ws://a/"), key: "k", headers: [("X-Token", "secret\r\nX-More: 1")],
                subprotocols: [])
        }
        #expect(error?.text == "the header \"X-Token\" holds a character it must not")
    }

    @Test func `a long answer's head is refused`() {
        let long = Array("HTTP/1.1 101 Yes\r\nX: ".utf8) + [UInt8](repeating: 0x78, count: 40_000)
        #expect(throws: WebSocketError.self) { try AnswerHead.read(long) }
        #expect(throws: WebSocketError.self) { try AnswerHead.read(Array("SSH-2.0\r\n\r\n".utf8)) }
    }
}
