import Chat
import ChatServer
import Foundation
import Rules
import Services
import Testing

@testable import steward

@Suite(.timeLimit(.minutes(2))) struct RightsOfAccounts {
    private static let bot = """
        version: 1
        rules:
          adverts:
            when: [messageAdded, messageEdited]
            in: lobby
            if:
              text: {has_any: ["buy now"]}
            do: [delete]
          thanks:
            when: messageAdded
            if:
              text: [thanks]
            do:
              - react: "💚"
        """

    private func config(_ bed: TestBed, identity: String) -> String {
        """
        accounts:
          town:
            service: twilio
            identity: \(identity)
            endpoint: "\(bed.endpoint)"
            token: {url: "\(bed.tokens)"}
            join: [general, lobby]
        """
    }

    @Test func `check --live shows what an account may do, and which rule wants more`() async throws {
        try await TestBed.run { bed, general in
            _ = try await bed.server.channel("lobby", as: "ana")
            try bed.write(Self.bot, to: "bots/bot.yaml")
            try bed.write(config(bed, identity: "helper"), to: "config.yaml")
            let file = bed.folder.appending(path: "config.yaml").path()
            let config = try ConfigReader.read(file: file, environment: [:])
            let answer = try await LiveCheck(config: config, rules: try Bots.load(config).rules).run()
            #expect(
                answer.text == """
                    account  channel  role                        delete  kick  react
                    town     general  channel user, service user  no      no    no
                    town     lobby    channel user, service user  no      no    no
                    rule "thanks" cannot react in general: town has the role channel user, service user
                    rule "adverts" cannot delete in lobby: town has the role channel user, service user
                    rule "thanks" cannot react in lobby: town has the role channel user, service user
                    """)
            #expect(answer.failures.isEmpty)
        }
    }

    @Test func `check --live calls a direct channel by who is in it`() async throws {
        try await TestBed.run { bed, general in
            let greeting = """
                version: 1
                rules:
                  greeting: {when: messageAdded, if: {text: [hello]}, do: [{dm: "Hello!"}]}
                """
            let steward = try bed.steward(bed.usualConfig, bot: greeting)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.post("hello", in: general, as: "ana")
            let server = bed.server
            await server.wait(in: general) { _ in server.look { $0.memberships(of: "ana").count == 2 } }
            #expect(try await steward.stop() == .fine)
            let file = bed.folder.appending(path: "config.yaml").path()
            let config = try ConfigReader.read(file: file, environment: [:])
            let answer = try await LiveCheck(config: config, rules: try Bots.load(config).rules).run()
            #expect(
                answer.text == """
                    account  channel          role                          delete  kick  react
                    twilio   direct with ana  channel admin, service admin  yes     yes   yes
                    twilio   general          channel admin, service admin  yes     yes   yes
                    """)
        }
    }

    @Test func `check --live says of an account that cannot log in why`() async throws {
        try await TestBed.run { bed, _ in
            try bed.write(Self.bot, to: "bots/bot.yaml")
            let broken = config(bed, identity: "helper").replacing(
                bed.tokens, with: "http://127.0.0.1:1/token")
            try bed.write(broken, to: "config.yaml")
            let file = bed.folder.appending(path: "config.yaml").path()
            let config = try ConfigReader.read(file: file, environment: [:])
            let rules = try Bots.load(config).rules
            let answer = try await LiveCheck(config: config, rules: rules, patience: .seconds(1)).run()
            #expect(answer.rights.channels.isEmpty)
            #expect(answer.text.hasPrefix("account \"town\": no token from "))
        }
    }

    @Test func `channels that cannot be used and power that lacks are told, a line each`() throws {
        let directory = Directory(accounts: [
            "town": Directory.Account(service: "matrix", abilities: MatrixService.abilities, joins: [])
        ])
        let text = """
            version: 1
            rules:
              calm: {when: messageAdded, if: {text: [x]}, do: [{mute: 5m}]}
            """
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: directory)
        #expect(loaded.errors.isEmpty)
        let realm = Identities().realm("matrix")
        var lobby = ChannelRights(
            channel: Channel(id: realm.channel("!l"), uniqueName: "lobby"), roles: ["power 50"],
            allowed: ["kick"], denied: ["mute", "delete"])
        lobby.needed = ["mute": "power 100"]
        var gone = ChannelRights(channel: Channel(id: realm.channel("!g"), uniqueName: "gone"), roles: [])
        gone.problem = "cannot be joined: M_NOT_FOUND: no"
        var answer = LiveCheck.Answer()
        answer.rights.channels = ["town": [lobby, gone]]
        #expect(!answer.isFine)
        answer.lacks = answer.rights.lacks(try #require(loaded.rules).reaches, directory)
        #expect(
            answer.text == """
                account  channel  role      delete  kick  react
                town     lobby    power 50  no      yes   ?
                account "town": gone cannot be joined: M_NOT_FOUND: no
                rule "calm" cannot mute in lobby: it needs power 100, town has power 50 - give it that in the room's settings
                """)
    }

    @Test func `where an account may delete and not mute, it is said how rules mute there`() throws {
        let directory = Directory(accounts: [
            "town": Directory.Account(service: "matrix", abilities: MatrixService.abilities, joins: [])
        ])
        let text = """
            version: 1
            rules:
              calm: {when: messageAdded, if: {text: [x]}, do: [{mute: 5m}]}
              back: {when: messageAdded, if: {text: [y]}, do: [unmute]}
            """
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: directory)
        var lobby = ChannelRights(
            channel: Channel(id: Identities().realm("matrix").channel("!l"), uniqueName: "lobby"),
            roles: ["power 50"], allowed: ["delete", "kick"], denied: ["mute", "unmute"])
        lobby.needed = ["mute": "power 100", "unmute": "power 100"]
        var answer = LiveCheck.Answer()
        answer.rights.channels = ["town": [lobby]]
        answer.lacks = answer.rights.lacks(try #require(loaded.rules).reaches, directory)
        #expect(
            answer.text == """
                account  channel  role      delete  kick  react
                town     lobby    power 50  yes     yes   ?
                rule "calm" mutes in lobby by deleting what is written: mute needs power 100 there, town has power 50
                """)
        #expect(answer.isFine)
    }

    @Test func `at its start steward warns of what its rules want and it may not do`() async throws {
        try await TestBed.run { bed, _ in
            _ = try await bed.server.channel("lobby", as: "ana")
            let steward = try bed.steward(config(bed, identity: "helper"), bot: Self.bot)
            await steward.transcript.wait(for: "rule \"adverts\" cannot delete in lobby")
            #expect(try await steward.stop() == .fine)
            let admin = try bed.steward(config(bed, identity: "steward"), bot: Self.bot)
            await admin.transcript.wait(for: "ready: ")
            #expect(try await admin.stop() == .fine)
            #expect(!admin.transcript.lines.contains { $0.contains("cannot") })
        }
    }

    @Test func `after a reload it is looked at again, and what is new is told`() async throws {
        try await TestBed.run { bed, _ in
            _ = try await bed.server.channel("lobby", as: "ana")
            let steward = try bed.steward(config(bed, identity: "helper"), bot: Self.bot)
            await steward.transcript.wait(for: "rule \"adverts\" cannot delete in lobby")
            let more = Self.bot.replacing("do: [delete]", with: "do: [delete, kick]")
            try bed.write(more, to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "rule \"adverts\" cannot kick in lobby")
            #expect(try await steward.stop() == .fine)
            #expect(steward.transcript.lines.count { $0.contains("cannot delete in lobby") } == 1)
        }
    }
}
