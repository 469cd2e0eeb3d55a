import Chat
import Testing

@testable import Services

@Suite struct MatrixAccounts {
    private func mistakes(_ change: (inout MatrixSettings) -> Void) -> [String] {
        var settings = MatrixSettings(
            homeserver: "https://matrix.example.org",
            login: MatrixSettings.Login(user: "steward", password: Secret("x")))
        change(&settings)
        return settings.findings.map { "\($0.path.joined(separator: ".")): \($0.problem)" }
    }

    @Test func `what is right has no mistakes`() {
        #expect(
            mistakes {
                $0.join = ["lobby", "#lobby:example.org", "!v12withoutserver", "!old:example.org"]
                $0.invites = ["@ana:example.org", "@*:example.org", "*"]
                $0.policies = ["coc": "#coc:example.org"]
            } == [])
        #expect(mistakes { $0.homeserver = "example.org" } == [])
        #expect(mistakes { $0.login = .init(token: Secret("x"), refreshToken: Secret("y")) } == [])
    }

    @Test func `each mistake has its place`() {
        #expect(
            mistakes { $0.homeserver = "ftp://example.org" } == [
                "homeserver: does not begin with https:// or http://"
            ])
        #expect(mistakes { $0.homeserver = "https://" } == ["homeserver: names no server"])
        #expect(
            mistakes { $0.homeserver = "example.org/matrix" } == [
                "homeserver: is more than a homeserver's address"
            ])
        #expect(
            mistakes { $0.homeserver = "https://matrix.example.org/_matrix/client" } == [
                "homeserver: is more than a homeserver's address"
            ])
        #expect(mistakes { $0.homeserver = "https://example.org/matrix" } == [])
        #expect(mistakes { $0.login = .init(user: "steward") } == ["login: has no way to log in"])
        #expect(
            mistakes { $0.login = .init(password: Secret("x"), applicationService: Secret("y")) } == [
                "login: has more than one way to log in", "login: has no user",
            ])
        #expect(
            mistakes { $0.login = .init(user: "@steward", password: Secret("x"), refreshToken: Secret("y")) }
                == [
                    "login.refresh_token: belongs to a token", "login.user: is no user",
                ])
        #expect(
            mistakes {
                $0.join = ["#lobby", "@ana:example.org", "a b"]
                $0.invites = ["ana"]
                $0.policies = ["coc": ""]
                $0.device = ""
            } == [
                "device: has not 1 to 200 bytes", "join.0: is no room", "join.1: is no room",
                "join.2: is no room",
                "policies.coc: is no room", "invites.0: is no user",
            ])
    }

    @Test func `one way to log in, and each room once`() {
        #expect(
            mistakes { $0.login = .init(user: "steward", password: Secret("x"), token: Secret("y")) } == [
                "login: has more than one way to log in"
            ])
        #expect(mistakes { $0.join = ["lobby", "!r", "lobby"] } == ["join.2: is named twice"])
    }

    @Test(arguments: [
        "https://steward:hunter2secret@matrix.example.org", "https://hunter2secret@matrix.example.org/x",
        "steward:hunter2secret@matrix.example.org", "ftp://steward:hunter2secret@matrix.example.org",
    ])
    func `who logs in does not stand in the address, and is not shown`(_ address: String) async throws {
        let settings = MatrixSettings(
            homeserver: address, login: .init(user: "steward", password: Secret("x")))
        let finding = try #require(settings.findings.first)
        #expect(settings.findings.count == 1)
        #expect(finding.isAboutSecret)
        #expect(finding.problem == "has a user or a password in it")
        #expect(finding.hint?.hasPrefix("write only the address") == true)
        try await withHomeserver { server in
            let error = #expect(throws: SettingsError.self) {
                _ = try settings.service(account: "matrix", tools: server.tools)
            }
            #expect(error?.description.hasPrefix("homeserver has a user or a password in it") == true)
        }
    }

    @Test(arguments: [
        ("power 50", true), ("power 50+", true), ("power -1", true), ("creator", true), ("power", false),
        ("power x+", false), ("moderator", false), ("channel admin", false),
    ])
    func `roles are powers`(_ role: String, _ isRight: Bool) {
        let settings = MatrixSettings(homeserver: "x", login: .init())
        #expect((settings.problem(withRole: role) == nil) == isRight)
    }

    @Test func `what is listened to is what can be told`() {
        var settings = MatrixSettings(homeserver: "x", login: .init())
        #expect(settings.abilities.events.isDisjoint(with: [.typingStarted, .readHorizonMoved]))
        settings.typing = true
        settings.receipts = true
        #expect(settings.abilities.events.isSuperset(of: [.typingStarted, .typingEnded, .readHorizonMoved]))
    }
}
