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

    @Test func `a name that is kept back needs a token, and whoever has it without has to go`() async throws {
        try await TestServer.run({ $0.keptBack = ["Mo"] }) { server async throws in
            let refused = try await TestPage(server, name: "mo").hear("error")
            #expect(refused["needs"] == "token")
            #expect(
                refused["text"]
                    == #""mo" is the name of somebody with a role here: come in with a token for it, or under another name"#
            )
            let mo = try await TestPage(server, name: "Mo", proof: ["token": .string(server.token("Mo"))])
            #expect(try await mo.hear("welcome")["me"] == "Mo")
            let tom = try await TestPage(server, name: "tom")
            _ = try await tom.hear("welcome")
            server.server.keepBack(["Mo", "Tom"])
            #expect(await tom.end() == 4001)
            #expect(try await TestPage(server, name: "tom").hear("error")["needs"] == "token")
            #expect(try await mo.order("people")["on"] == "done")
            server.server.keepBack([])
            #expect(try await TestPage(server, name: "tom").hear("welcome")["me"] == "tom")
        }
    }

    @Test func `a channel that the configuration calls private is seen by its members and admins`()
        async throws
    {
        let file = TemporaryState()
        try await TestServer.run({ $0.state = file.path }) { server async throws in
            _ = try await server.server.channel("staff", as: "bot")
            let welcome = try await TestPage(server, name: "eve").hear("welcome")
            #expect(welcome["channels"]?.array?.compactMap { $0["name"] } == ["staff"])
        }
        try await TestServer.run({
            $0.state = file.path
            $0.admins = ["boss"]
            $0.privateChannels = ["staff", "later"]
        }) { server async throws in
            let later = try await server.server.channel("later", as: "bot")
            let eve = try await TestPage(server, name: "eve")
            #expect(try await eve.hear("welcome")["channels"] == [])
            #expect(try await eve.order("join", ["channel": .string(later.text)])["on"] == "error")
            let boss = try await TestPage(
                server, name: "boss", proof: ["token": .string(server.token("boss"))])
            let shown = try await boss.hear("welcome")["channels"]?.array ?? []
            #expect(shown.compactMap { $0["name"] } == ["staff", "later"])
            #expect(try await boss.order("join", ["channel": .string(later.text)])["on"] == "done")
            #expect(
                try await boss.order("add", ["channel": .string(later.text), "name": "eve"])["on"] == "done")
            #expect(try await eve.hear("mine")["joined"] == true)
        }
    }

    @Test func `a private channel that is named after all in it is called by the others`() async throws {
        try await TestServer.run { server async throws in
            let ana = try await TestPage(server, name: "ana")
            let made = try await ana.order("create", ["name": "ana, bo", "private": true])
            let room = try #require(made["channel"])
            let bo = try await TestPage(server, name: "bo")
            #expect(try await ana.order("add", ["channel": room, "name": "bo"])["on"] == "done")
            let looks = [
                try await ana.order("look", ["channel": room]), try await bo.order("look", ["channel": room]),
            ]
            #expect(looks.map { $0["channel"]?["name"] } == ["bo", "ana"])
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
