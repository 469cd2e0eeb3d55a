internal import Chat
internal import JSON
internal import WebSocket

extension TwilioConnection: Listener {
    /// Empty before `init`.
    var identity: String { state.withLock { $0.session?.identity ?? "" } }

    func hear(_ telling: Telling, version: Int) {
        let topic = telling.event.feed.topic
        let payload = telling.form(version) {
            SyncEvents.payload($0, version: version, correlation: nil, links: links)
        }
        let notification = TwilioNotification(type: SyncEvents.liveType(of: topic), payload: payload)
        guard topic == .messages else { return push(notification) }
        pushMessage(notification)
    }

    func hear(_ typing: Typing) {
        guard !typing.isOver else { return }
        let payload: JSON = [
            "channel_sid": .string(typing.channel.text), "identity": .string(typing.identity),
            "typing_timeout": .int(Int64(TwilioTurn.typingTimeout + 1)),
        ]
        push(TwilioNotification(type: "twilio.ipmsg.typing_indicator", payload: payload.bytes()))
    }

    func lose(_ feed: FeedID, version: Int) {
        guard let sid = door.hall.look({ $0.state(of: feed)?.sid }) else { return }
        let payload = SyncEvents.terminal("subscription_canceled", version: version, correlation: nil) {
            writer in
            writer.member("object_sid", sid.text)
            writer.member("object_type", feed.topic.syncType)
        }
        push(TwilioNotification(type: SyncEvents.replayed, payload: payload))
    }

    /// Clients get the types they registered for.
    func push(_ notification: TwilioNotification) {
        let isWanted = state.withLock { state in
            state.session?.registered.values.contains { $0.contains(notification.type) } ?? false
        }
        guard isWanted else { return }
        guard outbox.add(.notification(notification)) else {
            door.log.warning("chat server: \(identity) does not read what it is sent; connection cut")
            return socket.kill()
        }
    }

    /// Events of messages are those that tests lose, double and mix up.
    private func pushMessage(_ notification: TwilioNotification) {
        if let heldBack = state.withLock({ $0.heldBack }) {
            state.withLock { $0.heldBack = nil }
            push(notification)
            return push(heldBack)
        }
        let identity = identity
        if door.faults.take(.lose, for: identity) { return }
        if door.faults.take(.misorder, for: identity) {
            return state.withLock { $0.heldBack = notification }
        }
        push(notification)
        if door.faults.take(.duplicate, for: identity) { push(notification) }
    }
}
