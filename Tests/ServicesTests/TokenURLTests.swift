import Chat
import HTTP
import HTTPServer
import Testing
import WebSocket

@testable import Services

@Suite(.timeLimit(.minutes(1))) struct TokenURLs {
    /// Asks a server that answers so; gives what it was asked, and the token or why there is none.
    private func ask(
        _ change: (inout URLTokenSource.Settings) -> Void = { _ in }, device: String? = nil,
        path: String = "/token",
        answer: HTTPReply
    ) async throws -> (request: HTTPRequest?, result: Result<String, TokenError>) {
        let loop = try SocketLoop()
        let seen = Locked<HTTPRequest?>(nil)
        let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) { request in
            seen.withLock { $0 = request }
            return answer
        }
        let http = HTTPClient()
        var settings = URLTokenSource.Settings(url: "http://127.0.0.1:\(server.port)\(path)")
        change(&settings)
        let source = URLTokenSource(settings, identity: "a & b", device: device, http: http)
        let result: Result<String, TokenError>
        do throws(TokenError) {
            result = .success(try await source.token())
        } catch {
            let text = error.description.replacing(":\(server.port)", with: "")
            result = .failure(TokenError(error.reaction, text))
        }
        await http.shutdown()
        await server.shutdown(grace: .zero)
        await loop.shutdown(grace: .zero)
        return (seen.withLock { $0 }, result)
    }

    private let good = HTTPReply.json(200, Array(#"{"token":"abc"}"#.utf8))

    @Test func `asked by GET, everything stands in the query`() async throws {
        let (request, result) = try await ask(device: "d1", path: "/token?kind=chat", answer: good)
        #expect(result == .success("abc"))
        #expect(request?.method == "GET")
        #expect(request?.query.map { "\($0)=\($1)" } == ["kind=chat", "device=d1", "identity=a & b"])
    }

    @Test func `asked by POST, fields go as JSON or as a form, with headers`() async throws {
        let json = try await ask(
            {
                $0.method = .post
                $0.fields = ["room": "x"]
                $0.headers = ["X-Key": "secret"]
            }, answer: good)
        #expect(json.result == .success("abc"))
        #expect(
            String(decoding: json.request?.body ?? [], as: UTF8.self) == #"{"identity":"a & b","room":"x"}"#)
        #expect(json.request?.header("X-Key") == "secret")
        #expect(json.request?.header("Content-Type") == "application/json")
        let form = try await ask(
            {
                $0.method = .post
                $0.body = .form
                $0.fields = ["identity": "other"]
            }, answer: good)
        #expect(form.request?.form.map { "\($0)=\($1)" } == ["identity=other"])
    }

    @Test func `the token is found where the settings say`() async throws {
        let nested = HTTPReply.json(200, Array(#"{"data":{"access":{"jwt":"xyz"}}}"#.utf8))
        #expect(try await ask({ $0.field = "data.access.jwt" }, answer: nested).result == .success("xyz"))
        #expect(try await ask(answer: .text(200, "aa.bb.cc\n")).result == .success("aa.bb.cc"))
        #expect(try await ask(answer: .json(200, Array(#""aa.bb""#.utf8))).result == .success("aa.bb"))
        #expect(
            try await ask(answer: nested).result
                == .failure(
                    TokenError(
                        .act,
                        "the answer of 127.0.0.1/token has no text under \"token\" - say with \"field\" where it is"
                    )))
        #expect(
            try await ask(answer: .text(200, "<html>")).result
                == .failure(
                    TokenError(
                        .act, "127.0.0.1/token answered with what is not JSON - is \"url\" right?")))
    }

    @Test(arguments: [
        (302, ", and is not followed elsewhere - write where it leads to into \"url\""),
        (401, " - do \"headers\" and \"fields\" have what it wants to see?"),
        (403, " - do \"headers\" and \"fields\" have what it wants to see?"),
        (404, " - is \"url\" right?"), (405, " - is \"method\" right?"), (418, ""),
    ])
    func `a refusal says what to look at, and no secrets in the address`(_ status: Int, _ hint: String)
        async throws
    {
        #expect(
            try await ask(path: "/token?key=secret", answer: .text(status, "no")).result
                == .failure(TokenError(.act, "127.0.0.1/token answered \(status)\(hint)")))
    }

    @Test(arguments: [429, 500, 503])
    func `trouble passes by itself`(_ status: Int) async throws {
        #expect(
            try await ask(answer: .text(status, "no")).result
                == .failure(TokenError(.again, "127.0.0.1/token answered \(status)")))
    }
}
