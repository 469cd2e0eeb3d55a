package import Chat

extension ChatEvent {
    /// What a handler had put off comes back to it. `key` names the continuation in the journal; `channel` tells what
    /// is known of a channel.
    package static func resumed(
        _ continuation: Continuation, _ outcome: Outcome, named key: String, realm: Realm, at now: Timestamp,
        channel: (ChannelID) -> Channel?
    ) -> ChatEvent {
        let id = continuation.place.map { realm.channel($0.channel) }
        return ChatEvent(
            id: "resumed/\(key)", account: continuation.place?.account ?? "", realm: realm,
            channel: id.map { channel($0) ?? Channel(id: $0) }, sentAt: now,
            kind: .resumed(continuation, outcome))
    }
}
