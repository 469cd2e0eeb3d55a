import Chat
import JSON
import Testing

@testable import Services

/// One person talks to another, from the list of channels to the first message.
@Suite(.timeLimit(.minutes(1))) struct SendbirdOneToOne {
    @Test func `pick a user, write, read back to the first message, and see that it was read`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            // The same two always have the same channel.
            let url = try await service.directChannel(to: "ana")
            #expect(try await service.directChannel(to: "ana") == url)
            try await inbox.wait { $0.events.contains { $0.name == .channelAdded } }
            #expect(inbox.state.withLock { $0.events.last?.channel?.isDirect } == true)
            let receipt = try await service.perform(
                sendbirdAction(.direct(Outgoing("hello"), user: "ana")), key: ActionKey(text: "1"))
            #expect(receipt.channel == url)
            let hello = try #require(receipt.message)
            await eventually { await service.unreadCount(of: hello, in: url) == 1 }

            // A hundred answers, many of one millisecond.
            let start = peer.tick()
            for number in 1...100 {
                peer.say("\(number)", by: "ana", in: url, at: start + Int64(number / 40))
            }
            _ = try await inbox.story(of: 101)
            peer.system(10900, in: url, ["user_id": "ana", "nickname": "ana"])
            try await inbox.wait { $0.events.last?.name == .typingStarted }
            peer.raw(
                #"READ{"channel_url":"\#(url)","ts":\#(peer.tick(5000)),"user":{"guest_id":"ana","name":"ana"}}"#
                    + "\n")
            await eventually { await service.unreadCount(of: hello, in: url) == 0 }

            // Backwards, 50 at a time, until the first.
            var texts: [String] = []
            var next: String?
            var pages = 0
            repeat {
                let page = try await service.messages(in: url, before: next)
                texts = page.elements.map(\.text) + texts
                next = page.next
                pages += 1
            } while next != nil && pages < 10
            #expect(texts == ["hello"] + (1...100).map { "\($0)" })
            #expect(pages == 3)

            // What we have not read falls to nothing once we have.
            var list = try await service.groupChannels()
            #expect(list.elements.first?.unread == 100)
            #expect(list.elements.first?.lastMessage?.text == "100")
            _ = try await service.perform(
                sendbirdAction(.advanceReadHorizon(to: 1), in: url), key: ActionKey(text: "2"))
            list = try await service.groupChannels()
            #expect(list.elements.first?.unread == 0)
            #expect(await service.unread(in: url) == 0)

            let file = Outgoing("", attachments: [.init(name: "x.png", contentType: "image/png", bytes: [1])])
            _ = try await service.perform(sendbirdAction(.send(file), in: url), key: ActionKey(text: "3"))
            _ = try await service.send(
                link: "https://elsewhere/y.png", name: "y.png", contentType: "image/png", size: 1, to: url,
                key: ActionKey(text: "4"))
            let page = try await service.messages(in: url, count: 2)
            #expect(page.elements.map { $0.attachments.first?.name } == ["x.png", "y.png"])
        }
    }

    @Test func `lists come 15 at a time until the last`() async throws {
        try await withSendbird(prepare: { peer in
            for number in 1...38 { peer.addRoom("room \(100 + number)") }
            for number in 1...16 {
                peer.addRoom("group \(100 + number)", open: false, members: ["bot", "ana"])
            }
        }) { _, service, inbox in
            try await inbox.waitUntilUp()
            var pages: [Int] = []
            var next: String?
            repeat {
                let page = try await service.openChannels(after: next)
                pages.append(page.elements.count)
                next = page.next
                #expect(page.hasNext == (next != nil))
            } while next != nil && pages.count < 10
            #expect(pages == [15, 15, 9])
            let first = try await service.groupChannels()
            #expect(first.elements.count == 15)
            #expect(
                try await service.groupChannels(after: first.next).elements.map(\.channel.id.text) == [
                    "group 116"
                ])
        }
    }

    @Test func `channels are hidden and shown again, joined and left`() async throws {
        try await withSendbird(prepare: { peer in
            peer.addRoom("group", open: false, members: ["bot", "ana"])
            peer.addRoom("other")
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            try await service.hide("group")
            try await service.hide("group", false)
            let changes = peer.state.withLock { $0.requests.filter { $0.method != "GET" } }
            #expect(
                changes.map { "\($0.method) \($0.path)" } == [
                    "PUT /group_channels/group/hide", "DELETE /group_channels/group/hide",
                ])
            #expect(changes.first?.body["allow_auto_unhide"] == true)
            _ = try await service.perform(
                sendbirdAction(.joinChannel, in: "other"), key: ActionKey(text: "1"))
            peer.say("hello", by: "ana", in: "other")
            #expect(try await inbox.story(of: 1) == ["other + ana: hello"])
            _ = try await service.perform(
                sendbirdAction(.leaveChannel, in: "other"), key: ActionKey(text: "2"))
            #expect(peer.commands.last == "EXIT")
            _ = try await service.perform(
                sendbirdAction(.leaveChannel, in: "group"), key: ActionKey(text: "3"))
            #expect(peer.paths("PUT").last == "/group_channels/group/leave")
        }
    }

    @Test func `a message is edited and a channel renamed, made and found`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            let receipt = try await service.perform(
                sendbirdAction(.send(Outgoing("one"))), key: ActionKey(text: "1"))
            let message = try #require(receipt.message)
            _ = try await service.perform(
                sendbirdAction(.editMessage(message, text: "two")), key: ActionKey(text: "2"))
            let edit = try #require(peer.state.withLock { $0.commands.last })
            #expect(edit.letters == "MEDI")
            #expect(edit.body["message"] == "two")
            _ = try await service.perform(
                sendbirdAction(.reply(Outgoing("three", isSilent: true), to: message)),
                key: ActionKey(text: "3"))
            let reply = try #require(peer.state.withLock { $0.commands.last })
            #expect(reply.body["parent_message_id"]?.int.map { "\($0)" } == message.id)
            #expect(reply.body["reply_to_channel"] == true)
            #expect(reply.body["silent"] == true)
            let make = sendbirdAction(.createChannel(title: "New", attributes: nil), in: "")
            #expect(try await service.find(make, key: ActionKey(text: "4"), since: .now) == nil)
            let made = try await service.perform(make, key: ActionKey(text: "4"))
            #expect(made.channel == "steward_4")
            #expect(try await service.find(make, key: ActionKey(text: "4"), since: .now) == made)
            _ = try await service.perform(
                sendbirdAction(.setChannelTitle("Newer"), in: "steward_4"), key: ActionKey(text: "5"))
            peer.system(11000, in: "steward_4", [:])
            try await inbox.wait { $0.events.last?.short == "steward_4 is Newer" }
        }
    }
}
