internal import Chat
internal import JSON

extension SyncBook {
    /// Reads a typing notification.
    mutating func readTyping(_ payload: JSONNode, at now: Timestamp) {
        guard let sid = payload["channel_sid"]?.string, let channel = channelPlaces[sid],
            let identity = payload["identity"]?.string
        else { return }
        let seconds = min(max(payload["typing_timeout"]?.int ?? 6, 1), 60)
        let member = channels[channel].member(identity) ?? reading.stranger(identity)
        let until = now + .seconds(seconds)
        if let place = typing.firstIndex(where: { $0.channel == channel && $0.member.user == member.user }) {
            typing[place].until = until
            return
        }
        typing.append(Typing(channel: channel, member: member, until: until))
        add(.typingStarted(member), id: "typing/\(identity)/\(now.milliseconds)", channel: channel, at: now)
    }

    /// Who has not typed for a while has stopped.
    mutating func endTyping(at now: Timestamp) {
        endTyping(at: now) { $0.until <= now }
    }

    /// Who has sent something has stopped, too.
    mutating func endTyping(of user: UserID, in channel: Int, at now: Timestamp) {
        endTyping(at: now) { $0.channel == channel && $0.member.user == user }
    }

    private mutating func endTyping(at now: Timestamp, where isOver: (Typing) -> Bool) {
        for entry in typing where isOver(entry) {
            add(
                .typingEnded(entry.member), id: "typed/\(entry.member.user)/\(now.milliseconds)",
                channel: entry.channel, at: now)
        }
        typing.removeAll(where: isOver)
    }
}
