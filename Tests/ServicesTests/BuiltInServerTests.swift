import Chat
import ChatServer
import Glibc
import HTTP
import Testing
import WebSocket

@testable import Services

/// The client against the chat server that steward brings along.
@Suite(.timeLimit(.minutes(2))) struct OnTheBuiltInServer {
    private let place = Place(account: "twilio", channel: "general")

    @Test(arguments: [TwilioSettings.Product.conversations, .chat])
    func `the whole way there and back, in both generations`(product: TwilioSettings.Product) async throws {
        try await BuiltInServerStage.run { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            try await server.join(general, as: "ana")
            try await server.post("before", in: general, as: "ana")
            let inbox = TestInbox()
            let service = try stage.login(join: ["general", "new"], product: product, inbox: inbox)
            try await inbox.waitUntilUp()
            #expect(inbox.state.withLock { $0.own?.text } == "bot")
            try await server.join(general, as: "eve")
            let hello = try await server.post("hello", in: general, as: "eve")
            _ = try await inbox.story(of: 4)
            let receipt = try await service.perform(
                ChatAction(.reply(Outgoing("hi"), to: MessageReference(id: hello.sid.text)), in: place),
                key: ActionKey(text: "k1"))
            #expect(server.messages(in: general).map(\.content.body) == ["before", "hello", "hi"])
            #expect(receipt.message?.index == 2)
            try await server.leave(general, as: "eve")
            #expect(
                try await inbox.story(of: 5).filter { !$0.hasSuffix("added") } == [
                    "general joined eve", "general + eve: hello", "general left eve",
                ])
            let own = inbox.state.withLock { $0.events.last { $0.member?.user == $0.own(inbox) } }
            #expect(own?.message?.replyTo == hello.sid.text)
            let list = try await service.channelList()
            #expect(list.map(\.title) == ["general", "new"])
            #expect(list.map(\.isJoined) == [true, true])
            #expect(try await service.messages(in: "general").map(\.text) == ["before", "hello", "hi"])
        }
    }

    @Test func `since when somebody is a member is known also of who was there before`() async throws {
        try await BuiltInServerStage.run { stage in
            let (server, general, inbox) = try await stage.start()
            try await server.post("hello", in: general, as: "ana")
            #expect(try await inbox.story(of: 2).last == "general + ana: hello")
            let event = inbox.state.withLock { $0.events.last }
            let joined = try #require(event?.member?.joinedAt)
            #expect(try joined <= #require(event?.sentAt))
        }
    }

    @Test func `what we may do is read from our roles, in each channel`() async throws {
        try await BuiltInServerStage.run { stage in
            _ = try await stage.now.channel("general", as: "ana")
            let inbox = TestInbox()
            let service = try stage.login(join: ["general", "mine"], inbox: inbox)
            try await inbox.waitUntilUp()
            let rights = await service.rights()
            #expect(rights.map(\.channel.title) == ["general", "mine"])
            #expect(
                rights.map(\.roles) == [
                    ["channel user", "service user"], ["channel admin", "service user"],
                ])
            #expect(rights.map(\.denied) == [["delete", "kick", "react"], []])
            #expect(rights.map(\.allowed) == [[], ["delete", "kick", "react"]])
        }
        var settings = ServerSettings()
        settings.admins = ["bot"]
        try await BuiltInServerStage.run(settings) { stage in
            _ = try await stage.now.channel("general", as: "ana")
            let inbox = TestInbox()
            let service = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            let rights = await service.rights()
            #expect(rights.map(\.roles) == [["channel admin", "service admin"]])
            #expect(rights.map(\.allowed) == [["delete", "kick", "react"]])
        }
    }

    @Test func `people go by their friendly names from their first word on, also when they change them`()
        async throws
    {
        var settings = ServerSettings()
        settings.admins = ["root"]
        try await BuiltInServerStage.run(settings) { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            func rename(_ identity: String, _ name: String) async throws {
                try await server.change { world throws(WorldError) in
                    try world.user("root", at: .now)
                    try world.user(identity, at: .now)
                    _ = try world.editUser(identity, friendlyName: name, as: "root", at: .now)
                }
            }
            try await rename("ana", "Ana Bell")
            try await rename("eve", "Eve")
            try await server.join(general, as: "ana")
            try await server.join(general, as: "ben")
            let inbox = TestInbox()
            _ = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            try await server.post("hello", in: general, as: "ana")
            try await server.join(general, as: "eve")
            try await server.post("hi", in: general, as: "ben")
            _ = try await inbox.story(of: 3)
            try await rename("ana", "Ana Clark")
            while !inbox.story.contains("general + Ana Clark: again") {
                let count = inbox.story.count
                try await server.post("again", in: general, as: "ana")
                _ = try await inbox.story(of: count + 1)
            }
            #expect(
                inbox.story.filter { $0 != "general + Ana Bell: again" && !$0.hasSuffix("added") } == [
                    "general + Ana Bell: hello", "general joined Eve", "general + ben: hi",
                    "general + Ana Clark: again",
                ])
        }
    }

    @Test func `whom the settings name is a program`() async throws {
        try await BuiltInServerStage.run { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            for identity in ["ana", "faq-bot"] { try await server.join(general, as: identity) }
            let inbox = TestInbox()
            _ = try stage.login(bots: ["*-bot"], inbox: inbox)
            try await inbox.waitUntilUp()
            for identity in ["ana", "faq-bot"] { try await server.post("hello", in: general, as: identity) }
            _ = try await inbox.story(of: 2)
            let authors = inbox.state.withLock { $0.events.compactMap { $0.message?.author } }
            #expect(authors.map(\.isBot) == [false, true])
        }
    }

    @Test(arguments: TwilioSettings.Product.allCases)
    func `a direct message is seen by the two alone`(_ product: TwilioSettings.Product) async throws {
        try await BuiltInServerStage.run { stage in
            let (own, others) = (TestInbox(), TestInbox())
            let bot = try stage.login(product: product, inbox: own)
            let eve = try stage.login("eve", product: product, inbox: others)
            for inbox in [own, others] { try await inbox.waitUntilUp() }
            let name = DirectChannel.name("bot", "ana")
            func act(_ service: TwilioService, _ verb: ChatAction.Verb, in channel: String) async throws {
                _ = try await service.perform(
                    ChatAction(verb, in: Place(account: "twilio", channel: channel)),
                    key: ActionKey(text: "key-\(UInt64.random(in: 0 ... .max))"))
            }
            try await act(bot, .direct(Outgoing("psst"), user: "ana"), in: "general")
            let channel = try #require(
                stage.now.look { world in try? world.channel(name, for: "ana") })
            #expect(channel.profile.isPrivate)
            #expect(channel.roster.map(\.identity) == ["bot", "ana"])
            // Its title names both of them; to us it is ana's. What is said before we know of it is history.
            try await own.wait {
                $0.events.contains { $0.name == .channelAdded && $0.channel?.isDirect == true }
            }
            try await stage.now.post("hello", in: channel.sid, as: "ana")
            try await own.wait { $0.events.contains { $0.message?.text == "hello" } }
            let heard = own.state.withLock { $0.events.last { $0.message?.text == "hello" } }
            #expect(channel.profile.friendlyName == "ana, bot")
            #expect(heard?.channel?.title == "ana")
            #expect(own.state.withLock { !$0.events.contains { $0.name == .channelUpdated } })
            #expect(stage.now.look { $0.publicChannels.map(\.profile.uniqueName) } == ["general"])
            for name in [name, channel.sid.text] {
                await #expect(throws: ChatServiceError.self) {
                    try await act(eve, .send(Outgoing("hello")), in: name)
                }
                await #expect(throws: ChatServiceError.self) {
                    try await act(eve, .addMember(user: "eve"), in: name)
                }
            }
            await #expect(throws: WorldError.self) {
                try await stage.now.join(channel.sid, as: "eve")
            }
            #expect(stage.now.messages(in: channel.sid).map(\.content.body) == ["psst", "hello"])
        }
    }

    @Test func `what it may do is done, and the others see it`() async throws {
        var settings = ServerSettings()
        settings.admins = ["bot"]
        try await BuiltInServerStage.run(settings) { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            try await server.join(general, as: "ana")
            let inbox = TestInbox()
            let service = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            func act(_ verb: ChatAction.Verb, in channel: String = "general") async throws -> Receipt {
                try await service.perform(
                    ChatAction(verb, in: Place(account: "twilio", channel: channel)),
                    key: ActionKey(text: "key-\(UInt64.random(in: 0 ... .max))"))
            }
            let bad = try await server.post("bad word", in: general, as: "ana")
            let reference = MessageReference(id: bad.sid.text, index: 0)
            _ = try await act(.react("👍", to: reference))
            #expect(server.messages(in: general).first?.content.attributes == #"{"reactions":{"👍":["bot"]}}"#)
            _ = try await act(.editMessage(reference, text: "good word"))
            _ = try await act(.deleteMessage(reference))
            _ = try await act(.deleteMessage(reference))
            #expect(server.messages(in: general).isEmpty)
            _ = try await act(.direct(Outgoing("psst"), user: "ana"))
            _ = try await act(.direct(Outgoing("again"), user: "ana"))
            let direct = try await server.channel(DirectChannel.name("ana", "bot"), as: "bot")
            #expect(server.messages(in: direct).map(\.content.body) == ["psst", "again"])
            _ = try await act(.addMember(user: "zoe & co"))
            _ = try await act(.addMember(user: "zoe & co"))
            _ = try await act(.setMemberAttributes(user: "zoe & co", "{\"a\":1}"))
            _ = try await act(.removeMember(user: "zoe & co"))
            _ = try await act(.removeMember(user: "zoe & co"))
            _ = try await act(.setChannelAttributes("{\"topic\":\"tea\"}"))
            _ = try await act(.typing)
            let sent = try await act(
                .send(
                    Outgoing(
                        "look",
                        attachments: [
                            .init(name: "a.txt", contentType: "text/plain", bytes: Array("file".utf8))
                        ])))
            _ = try await act(.advanceReadHorizon(to: sent.message?.index ?? 0))
            let listed = try await service.messages(in: "general", count: 1)
            #expect(listed.first?.attachments.map(\.name) == ["a.txt"])
            let made = try await act(.createChannel(title: "Help", attributes: nil), in: "help")
            #expect(made.channel?.hasPrefix("CH") == true)
            // Gone before we have looked, it would not be told at all.
            _ = try await inbox.story(of: 11)
            _ = try await act(.destroyChannel, in: "help")
            let story = try await inbox.story(of: 12)
            let expected: Set<String> = [
                "general + ana: bad word", "general ~ ana: bad word", "general ~ ana: good word",
                "general - ana: good word", "general joined zoe & co", "general updated zoe & co",
                "general left zoe & co", "general is general",
            ]
            let told = story.filter { $0.hasPrefix("general") && !$0.hasSuffix("added") }
            #expect(Set(told) == expected)
            #expect(told.count == expected.count)
        }
    }
}

extension ChatEvent {
    fileprivate func own(_ inbox: TestInbox) -> UserID? { realm.user("bot") }
}
