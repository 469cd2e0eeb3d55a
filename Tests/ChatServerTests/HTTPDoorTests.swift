import Chat
import HTTP
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct HTTPDoors {
    private func visit(
        _ change: (inout ServerSettings) -> Void = { _ in },
        _ body: (TestServer, HTTPClient) async throws -> Void
    ) async throws {
        let http = HTTPClient()
        do {
            try await TestServer.run(change) { try await body($0, http) }
            await http.shutdown()
        } catch {
            await http.shutdown()
            throw error
        }
    }

    private func ask(
        _ http: HTTPClient, _ method: String, _ url: String, headers: [(String, String)] = [],
        body: String? = nil
    ) async throws -> IncomingAnswer {
        try await http.send(
            OutgoingRequest(method: method, url: url, headers: headers, body: body.map { Array($0.utf8) }))
    }

    // MARK: Tokens

    @Test func `a token is given to GET, to a form and to JSON`() async throws {
        try await visit { server, http async throws in
            let url = server.server.address + "/token"
            let asks: [(String, String, [(String, String)], String?)] = [
                ("GET", url + "?identity=b%C3%B6t&device=d&ttl=60", [], nil),
                (
                    "POST", url, [("Content-Type", "application/x-www-form-urlencoded")],
                    "identity=b%C3%B6t&ttl=60"
                ),
                ("POST", url, [("Content-Type", "application/json")], #"{"identity":"böt","ttl":60}"#),
                ("POST", url + "?identity=b%C3%B6t&ttl=60", [], nil),
            ]
            for (method, url, headers, body) in asks {
                let answer = try await ask(http, method, url, headers: headers, body: body)
                #expect(answer.status == 200)
                #expect(answer.header("Cache-Control") == "no-store")
                let json = try JSON(parsing: answer.body)
                #expect(json["identity"] == "böt")
                let claims = try server.server.issuer.check(json["token"]?.string ?? "", at: .now)
                #expect(claims.identity == "böt")
                #expect((50...61).contains((claims.expires - .now).components.seconds))
            }
        }
    }

    @Test func `bad requests for tokens are told why`() async throws {
        try await visit { server, http async throws in
            let url = server.server.address + "/token"
            for (query, status) in [
                ("", 400), ("?identity=", 400), ("?identity=a&ttl=0", 400), ("?identity=a&ttl=x", 400),
                ("?identity=a&ttl=86401", 400), ("?identity=" + String(repeating: "x", count: 257), 400),
                ("?identity=a&ttl=1", 200),
            ] {
                #expect(try await ask(http, "GET", url + query).status == status, "\(query)")
            }
            #expect(try await ask(http, "DELETE", url).status == 405)
            let broken = try await ask(
                http, "POST", url, headers: [("Content-Type", "application/json")], body: "{")
            #expect(broken.status == 400)
            server.server.add(Fault(.refuseToken(status: 503)))
            #expect(try await ask(http, "GET", url + "?identity=a").status == 503)
        }
    }

    @Test func `with a secret, only who knows it gets a token`() async throws {
        try await visit({ $0.secret = "open sesame" }) { server, http async throws in
            let url = server.server.address + "/token?identity=bot"
            #expect(try await ask(http, "GET", url).status == 401)
            #expect(try await ask(http, "GET", url + "&secret=wrong").status == 401)
            #expect(try await ask(http, "GET", url + "&secret=open%20sesame").status == 200)
            let bearer = [("Authorization", "Bearer open sesame")]
            #expect(try await ask(http, "POST", url, headers: bearer).status == 200)
        }
    }

    @Test func `off loopback a server without a secret does not start`() async throws {
        var settings = ServerSettings()
        settings.host = "0.0.0.0"
        let loop = try SocketLoop()
        await #expect(throws: ChatServer.StartError.self) { try await ChatServer.start(settings, loop: loop) }
        settings.secret = "s"
        let server = try await ChatServer.start(settings, loop: loop)
        await server.shutdown()
        await loop.shutdown(grace: .seconds(1))
    }

    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("0.0.0.0", false),
        ("127.0.0.1.evil.example", false), ("192.168.1.2", false), ("", false), ("::", false),
    ])
    func `loopback is known when seen`(_ host: String, _ isLoopback: Bool) {
        #expect(ChatServer.isLoopback(host) == isLoopback)
    }

    @Test func `names that only lead here by a trick are not answered`() async throws {
        try await visit { server, http async throws in
            let answer = try await ask(
                http, "GET", server.server.address + "/token?identity=bot",
                headers: [("Host", "evil.example")])
            #expect(answer.status == 421)
        }
    }

    // MARK: The page

    @Test func `the page brings all it needs and lets nothing else in`() async throws {
        try await visit { server, http async throws in
            for (path, type) in [
                ("/", "text/html"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml"),
            ] {
                let answer = try await ask(http, "GET", server.server.address + path)
                #expect(answer.status == 200)
                #expect(answer.header("Content-Type") == "\(type); charset=utf-8")
                let policy = answer.header("Content-Security-Policy") ?? ""
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
                #expect(!policy.contains("unsafe"))
            }
            let page = String(
                decoding: try await ask(http, "GET", server.server.address + "/").body, as: UTF8.self)
            #expect(!page.contains("style=") && !page.contains("onclick") && !page.contains("http://"))
            let scripts = page.split(separator: "<script src=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
            #expect(scripts.count == 12)
            #expect(page.components("<script") == scripts.count)
            for file in scripts {
                let answer = try await ask(http, "GET", server.server.address + file)
                #expect(answer.header("Content-Type") == "text/javascript; charset=utf-8", "\(file)")
                let script = String(decoding: answer.body, as: UTF8.self)
                #expect(script.hasPrefix("\"use strict\";"), "\(file)")
                #expect(script.components("\n") < 400, "\(file)")
                for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
                    #expect(!script.contains(word), "\(word)")
                }
            }
        }
    }

    @Test func `what is not there is not found, and other methods are refused`() async throws {
        try await visit { server, http async throws in
            for path in ["/nothing", "/faults", "/v3/other", "/../etc/passwd", "/browser/x"] {
                #expect(try await ask(http, "GET", server.server.address + path).status == 404, "\(path)")
            }
            #expect(try await ask(http, "POST", server.server.address + "/").status == 405)
            #expect(try await ask(http, "GET", server.server.address + "/v3/wsconnect").status == 426)
            #expect(try await ask(http, "GET", server.server.address + "/browser").status == 426)
        }
    }

    // MARK: Files

    @Test func `a file goes up, into a message and down again`() async throws {
        try await visit { server, http async throws in
            let room = try await server.server.channel("room", as: "bot")
            try await server.server.join(room, as: "bot")
            let client = try await server.client("bot")
            let links = try #require(try await client.configuration()["links"])
            let media = try #require(links["media_service"]?.string)
            #expect(media.hasPrefix("http://127.0.0.1:\(server.server.port)/v1/Services/IS"))
            let token = ("X-Twilio-Token", server.token("bot"))
            let up = try await ask(
                http, "POST", media + "?Category=media&Filename=a.png",
                headers: [token, ("Content-Type", "image/png")], body: "not really")
            #expect(up.status == 201)
            let record = try JSON(parsing: up.body)
            #expect(record["size"] == 10)
            #expect(record["content_type"] == "image/png")
            #expect(record["filename"] == "a.png")
            #expect(record["author"] == "bot")
            let sid = try #require(record["sid"]?.string)
            let sent = try await client.request(
                "POST", "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages",
                body: ["body": .null, "media_sids": [.string(sid)]])
            #expect(sent.payload["media"]?[0]?["sid"]?.string == sid)
            let list = try await client.request(
                "GET", "https://cds.us1.twilio.com/v3/Lists/\(room).messages/Items")
            let item = try #require(list.payload["items"]?[0]?["data"])
            #expect(item["type"] == "media")
            #expect(
                item["medias"]?[0] == [
                    "sid": .string(sid), "category": "media", "filename": "a.png", "contentType": "image/png",
                    "size": 10,
                ])
            let info = try JSON(parsing: try await ask(http, "GET", "\(media)/\(sid)", headers: [token]).body)
            let direct = try #require(info["links"]?["content_direct_temporary"]?.string)
            let down = try await ask(http, "GET", direct)
            #expect(down.body == Array("not really".utf8))
            #expect(down.header("Content-Disposition") == "attachment")
            #expect(try await ask(http, "GET", direct + "x").status == 403)
            #expect(try await ask(http, "GET", "\(media)/\(sid)").status == 401)
            let several = try await ask(
                http, "POST", try #require(links["media_set_service"]?.string), headers: [token],
                body: #"{"command":"get","list":[{"media_sid":"\#(sid)"},{"media_sid":"ME0"}]}"#)
            let set = try JSON(parsing: several.body)
            #expect(set[0]?["media_record"]?["sid"]?.string == sid)
            #expect(set[1]?["code"] == 404)
        }
    }

    @Test func `a form's file is found`() throws {
        let body =
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nfield\r\n--x\r\n"
            + "Content-Disposition: form-data; name=\"f\"; filename=\"b.txt\"\r\nContent-Type: text/plain\r\n\r\n"
            + "one\r\n--two\r\n--x--\r\n"
        let form = try #require(
            Multipart(type: "multipart/form-data; boundary=\"x\"", body: Array(body.utf8)))
        #expect(form.file == .init(name: "b.txt", type: "text/plain", content: Array("one\r\n--two".utf8)))
        #expect(Multipart(type: "multipart/form-data; boundary=y", body: Array(body.utf8)) == nil)
        #expect(Multipart(type: "multipart/form-data", body: Array(body.utf8)) == nil)
    }
}

extension String {
    /// How often a piece occurs.
    fileprivate func components(_ piece: String) -> Int {
        split(separator: piece, omittingEmptySubsequences: false).count - 1
    }
}
