package import Chat

extension World {
    package mutating func post(
        _ content: Message.Content, in sid: SID, as author: String, at now: Timestamp
    ) throws(WorldError) -> Message {
        let message = try draft(content, in: sid, as: author, at: now)
        append(message, to: sid, at: now)
        return message
    }

    /// The message that its author's page called `key`, deleted ones included as long as anybody may ask for them.
    func posted(_ key: String, in sid: SID, by author: String) -> Message? {
        guard let channel = channels[sid] else { return nil }
        func isIt(_ message: Message) -> Bool { message.content.key == key && message.author == author }
        if let message = channel.messages.last(where: isIt) { return message }
        let event = channel.messageFeed.log.last { event in
            if case .message(let message) = event.subject { isIt(message) } else { false }
        }
        if case .message(let message)? = event?.subject { return message }
        return nil
    }

    /// Says something as the service itself, or for a user who need not be a member.
    mutating func announce(
        _ content: Message.Content, in sid: SID, for author: String?, at now: Timestamp
    ) throws(WorldError) -> Message {
        var person: Person?
        if let author { person = try self.person(author) }
        guard let channel = channels[sid] else { throw .noSuchChannel }
        try check(content)
        let event = channel.messageFeed.lastEvent + 1
        let message = Message(
            sid: .fresh(.message), index: channel.nextIndex, number: nextMessage, author: author ?? "system",
            member: channel.member(of: author ?? "")?.sid ?? person?.sid ?? sid, posted: now,
            content: content,
            updated: now, updatedBy: nil, addedEvent: event, lastEvent: event)
        append(message, to: sid, at: now)
        return message
    }

    // What only reads the channel is a function of its own: a copy of it that is still held would make each change
    // copy all its messages.
    private func draft(
        _ content: Message.Content, in sid: SID, as author: String, at now: Timestamp
    ) throws(WorldError) -> Message {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard let member = channel.member(of: author) else { throw .notMember }
        try require(content.medias.isEmpty ? .sendMessage : .sendMediaMessage, of: author, in: channel)
        if channel.profile.traits.isFrozen, !allows(.deleteAnyMessage, author, in: channel) { throw .frozen }
        if channel.mutes[author]?.holds(at: now) == true { throw .muted }
        try checkBlocks(in: channel, of: author)
        try check(content)
        let event = channel.messageFeed.lastEvent + 1
        return Message(
            sid: .fresh(.message), index: channel.nextIndex, number: nextMessage, author: author,
            member: member.sid, posted: now,
            content: content, updated: now, updatedBy: nil, addedEvent: event, lastEvent: event)
    }

    private mutating func append(_ message: Message, to sid: SID, at now: Timestamp) {
        var forgotten: [Message] = []
        let keep = max(limits.keep, 1)
        nextMessage += 1
        channels[sid]?.messages.append(message)
        channels[sid]?.nextIndex += 1
        channels[sid]?.messageCount += 1
        while let count = channels[sid]?.messages.count, count > keep {
            if let old = channels[sid]?.messages.removeFirst() { forgotten.append(old) }
        }
        tellMessages(sid, .added, message, at: now)
        for old in forgotten {
            note(.noMessage(channel: sid, index: old.index))
            channels[sid]?.messageFeed.forget(upTo: old.index)
            forgetFiles(of: old)
        }
        unhideAll(sid, at: now)
        changeProfile(sid, at: now) {
            $0.lastMessage = Channel.LastMessage(index: message.index, at: now, number: message.number)
        }
    }

    /// Puts `content` in place of the message's.
    package mutating func edit(
        _ message: SID, in sid: SID, as editor: String, at now: Timestamp,
        _ change: (inout Message.Content) -> Void
    ) throws(WorldError) -> Message {
        let (old, content) = try revise(message, in: sid, as: editor, change)
        return replace(old, with: content, in: sid, by: editor, at: now)
    }

    private func revise(
        _ message: SID, in sid: SID, as editor: String, _ change: (inout Message.Content) -> Void
    ) throws(WorldError) -> (Message, Message.Content) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard let old = channel.message(message) else { throw .noSuchMessage }
        var content = old.content
        change(&content)
        let isOwn = old.author == editor
        if content.body != old.content.body || content.subject != old.content.subject {
            try require(isOwn ? .editOwnMessage : .editAnyMessage, of: editor, in: channel)
        }
        if content.attributes != old.content.attributes || content.traits != old.content.traits {
            try require(
                isOwn ? .editOwnMessageAttributes : .editAnyMessageAttributes, of: editor, in: channel)
        }
        try check(content)
        return (old, content)
    }

    /// Changes a message's attributes as any member may, for reactions.
    mutating func annotate(
        _ message: SID, in sid: SID, as member: String, at now: Timestamp, reacted: Message.Reacted? = nil,
        _ change: (String) -> String
    ) throws(WorldError) -> Message {
        let old = try seen(message, in: sid, by: member)
        var content = old.content
        content.attributes = change(content.attributes)
        try check(content)
        return replace(old, with: content, in: sid, by: member, at: now, reacted: reacted)
    }

    private func seen(_ message: SID, in sid: SID, by member: String) throws(WorldError) -> Message {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard member == Self.service || channel.member(of: member) != nil else { throw .notMember }
        guard let found = channel.message(message) else { throw .noSuchMessage }
        return found
    }

    package mutating func delete(
        _ message: SID, in sid: SID, as deleter: String, at now: Timestamp
    ) throws(WorldError) {
        let (old, position) = try doomed(message, in: sid, as: deleter)
        channels[sid]?.messages.remove(at: position)
        channels[sid]?.messageCount -= 1
        tellMessages(sid, .removed, old, at: now)
        noteChannel(sid)
        forgetFiles(of: old)
    }

    /// A file belongs to the message it came with.
    mutating func forgetFiles(of message: Message) {
        for media in message.content.medias where medias.removeValue(forKey: media.sid) != nil {
            note(.noMedia(media.sid))
        }
    }

    private func doomed(
        _ message: SID, in sid: SID, as deleter: String
    ) throws(WorldError) -> (Message, position: Int) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard let old = channel.message(message) else { throw .noSuchMessage }
        try require(old.author == deleter ? .deleteOwnMessage : .deleteAnyMessage, of: deleter, in: channel)
        return (old, channel.messages.position(of: old.index, by: \.index))
    }

    private mutating func replace(
        _ old: Message, with content: Message.Content, in sid: SID, by editor: String, at now: Timestamp,
        reacted: Message.Reacted? = nil
    ) -> Message {
        let event = (channels[sid]?.messageFeed.lastEvent ?? -1) + 1
        let new = old.edited(
            content, by: editor == Self.service ? "system" : editor, at: now, event: event, reacted: reacted)
        if let position = channels[sid]?.messages.position(of: old.index, by: \.index) {
            channels[sid]?.messages[position] = new
        }
        tellMessages(sid, .updated, new, at: now)
        noteChannel(sid)
        return new
    }

    private mutating func tellMessages(
        _ sid: SID, _ kind: FeedEvent.Kind, _ message: Message, at now: Timestamp
    ) {
        let bound = limits.keep * 2
        guard
            let event = channels[sid]?.messageFeed.add(kind, .message(message), at: now, keeping: bound),
            let feed = channels[sid]?.messageFeed, let isPrivate = channels[sid]?.profile.isPrivate
        else { return }
        publish(event, of: FeedID(topic: .messages, owner: sid), known: feed, isPrivate: isPrivate)
        note(
            kind == .removed
                ? .noMessage(channel: sid, index: message.index) : .message(channel: sid, message))
    }

    private func check(_ content: Message.Content) throws(WorldError) {
        if let body = content.body, body.utf8.count > limits.bodyBytes {
            throw .tooLong("the message", limit: limits.bodyBytes)
        }
        if let subject = content.subject { try check(subject, "the subject", limit: limits.nameLength) }
        try checkAttributes(content.attributes, limit: limits.attributesBytes)
        guard content.medias.count <= limits.mediaOfMessage else {
            throw .tooMany("files in a message", limit: limits.mediaOfMessage)
        }
    }

    /// Remembers a file that was uploaded.
    package mutating func add(_ media: Media, content: [UInt8]) {
        medias[media.sid] = media
        note(.media(media, content: content))
    }
}
