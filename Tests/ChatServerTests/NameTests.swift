import Chat
import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct Names {
    @Test func `an admin's name needs a token for it, and then a pass for coming back`() async throws {
        try await TestServer.run({ $0.admins = ["Boss"] }) { server async throws in
            for name in ["Boss", "boss", "bo\u{200D}ss"] {
                let refused = try await TestPage(server, name: name).hear("error")
                #expect(refused["needs"] == "token")
                #expect(
                    refused["text"]?.string
                        == "\"\(name)\" is the name of an admin of this server: come in with a token for it, or under another name"
                )
            }
            let other = ["token": JSON.string(server.token("bo"))]
            let wrong = try await TestPage(server, name: "Boss", proof: .object(JSONObject(other.map { $0 })))
            #expect(try await wrong.hear("error")["needs"] == "token")
            let boss = try await TestPage(
                server, name: "Boss", proof: ["token": .string(server.token("Boss"))])
            let pass = try #require(try await boss.hear("welcome")["pass"])
            let back = try await TestPage(server, name: "Boss", proof: ["pass": pass])
            #expect(try await back.hear("welcome")["me"] == "Boss")
            // A pass is for one name.
            let thief = try await TestPage(server, name: "boss", proof: ["pass": pass])
            #expect(try await thief.hear("error")["needs"] == "token")
        }
    }

    @Test func `nobody on the page is called like a program that has logged in, also after a restart`()
        async throws
    {
        let file = TemporaryState()
        try await TestServer.run({ $0.state = file.path }) { server async throws in
            let early = try await TestPage(server, name: "bot")
            _ = try await early.hear("welcome")
            _ = try await server.client("bot")
            // Who only said so has to go.
            #expect(await early.end() == 4001)
            let refused = try await TestPage(server, name: "bot").hear("error")
            #expect(
                refused["text"]
                    == #""bot" is the name of a program that logs in with a token: come in with a token for it, or under another name"#
            )
        }
        try await TestServer.run({ $0.state = file.path }) { server async throws in
            #expect(try await TestPage(server, name: "bot").hear("error")["needs"] == "token")
            #expect(try await TestPage(server, name: "ana").hear("welcome")["me"] == "ana")
        }
    }

    @Test func `people are added to a private channel, and removed, by those who may`() async throws {
        try await TestServer.run { server async throws in
            let ana = try await TestPage(server, name: "ana")
            let bo = try await TestPage(server, name: "bo")
            _ = try await bo.hear("welcome")
            let made = try await ana.order("create", ["name": "Secret", "private": true])
            let room = try #require(made["channel"])
            #expect(try await ana.order("people")["people"] == ["ana", "bo"])
            #expect(try await ana.order("look", ["channel": room])["channel"]?["mayAdd"] == true)
            #expect(try await ana.order("add", ["channel": room, "name": "bo"])["on"] == "done")
            let told = try await bo.hear("mine")
            #expect(told["joined"] == true)
            #expect(try await bo.order("look", ["channel": room])["channel"]?["mayAdd"] == false)
            #expect(try await bo.order("add", ["channel": room, "name": "cy"])["on"] == "error")
            #expect(try await bo.order("remove", ["channel": room, "name": "ana"])["on"] == "error")
            let twice = try await ana.order("add", ["channel": room, "name": "bo"])
            #expect(twice["text"] == "is a member already")
            #expect(try await ana.order("add", ["channel": room, "name": " x"])["on"] == "error")
            #expect(try await ana.order("remove", ["channel": room, "name": "bo"])["on"] == "done")
            #expect(try await bo.hear("mine")["joined"] == false)
            #expect(try await bo.order("look", ["channel": room])["on"] == "error")
        }
    }
}
