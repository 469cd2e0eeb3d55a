import Chat
import HTTP
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct RefusedVisitors {
    private let lines = Locked<[String]>([])
    private var log: Log { Log(level: .info) { line in lines.withLock { $0.append(line.text) } } }

    @Test func `the log says who was refused, where and why, and not too often`() {
        let refusals = Refusals(log: log)
        let start = Timestamp(milliseconds: 1_700_000_000_000)
        for second in 0..<60 {
            refusals.note(
                "192.0.2.7:\(1000 + second)", "/token", "the secret is wrong", at: start + .seconds(second))
        }
        refusals.note("[2001:db8::1]:9", "/browser", "the password is wrong", at: start)
        refusals.note("192.0.2.7:9", "/token", "the secret is wrong", at: start + .seconds(61))
        #expect(
            lines.withLock { $0 } == [
                "chat server: refused 192.0.2.7 at /token: the secret is wrong",
                "chat server: refused [2001:db8::1] at /browser: the password is wrong",
                "chat server: refused 192.0.2.7 at /token: the secret is wrong, and 59 more since it was last said",
            ])
    }

    @Test func `a flood from many addresses fills neither log nor memory`() {
        let refusals = Refusals(log: log)
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        for number in 0..<5000 { refusals.note("host\(number):1", "/token", "wrong", at: now) }
        #expect(lines.withLock { $0.count } == 1001)
        #expect(lines.withLock { $0.last } == "chat server: refused many addresses at /token: wrong")
    }

    @Test func `a wrong secret is logged without the secret`() async throws {
        try await TestServer.run({ $0.secret = "open sesame" }, log: log) { server async throws in
            let http = HTTPClient()
            for _ in 0..<3 {
                let answer = try await http.send(
                    OutgoingRequest(url: server.server.address + "/token?identity=bot&secret=guess"))
                #expect(answer.status == 401)
            }
            await http.shutdown()
            let page = try await TestPage(server, name: "ana", proof: ["secret": "another guess"])
            #expect(try await page.hear("error")["needs"] == "secret")
        }
        #expect(
            lines.withLock { $0 } == [
                "chat server: refused 127.0.0.1 at /token: the secret is missing or wrong",
                "chat server: refused 127.0.0.1 at /browser: the password is wrong",
            ])
    }

    @Test func `an empty secret is a mistake, not an open door`() async throws {
        let loop = try SocketLoop()
        for host in ["127.0.0.1", "0.0.0.0"] {
            var settings = ServerSettings()
            settings.host = host
            settings.secret = ""
            let error = await #expect(throws: ChatServer.StartError.self) {
                try await ChatServer.start(settings, loop: loop)
            }
            #expect(
                error?.description
                    == "the chat server's secret is empty: give server.secret or STEWARD_SERVER_SECRET a value, or take it away to let everybody on this machine in"
            )
        }
        await loop.shutdown(grace: .seconds(1))
    }

    @Test(arguments: [
        ("GET", "?identity=%FF", nil), ("GET", "?identity=a%C3", nil), ("GET", "?%FF=x&identity=a", nil),
        ("POST", "", "identity=%ff"), ("POST", "", "identity=a&device=%80"),
    ])
    func `a name that is no UTF-8 gets no token`(
        _ method: String, _ query: String, _ body: String?
    ) async throws {
        try await TestServer.run { server async throws in
            let http = HTTPClient()
            let answer = try await http.send(
                OutgoingRequest(
                    method: method, url: server.server.address + "/token" + query,
                    headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: body.map { Array($0.utf8) }))
            await http.shutdown()
            #expect(answer.status == 400)
            let why = try JSON(parsing: answer.body)["error"]?.string
            #expect(why?.hasSuffix("is no UTF-8: percent-encode text as UTF-8") == true)
        }
    }
}
