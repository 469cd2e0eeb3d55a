internal import Chat

/// A message as it is kept for a while.
struct HistoryLine: Sendable {
    /// Which of the history's accounts read it.
    var source: UInt16
    var event: String
    var sentAt: Timestamp
    var message: Message
}

extension HistoryLine {
    /// What has a fixed size; the texts follow, with what is seldom there behind them.
    private struct Head {
        var sentAt: Int64 = 0
        var index: Int64 = 0
        var source: UInt16 = 0
        var isBot = false
        var event: UInt32 = 0
        /// 0: the message has the event's id.
        var message: UInt32 = 0
        var user: UInt32 = 0
        var name: UInt32 = 0
        var roles: UInt32 = 0
        var text: UInt32 = 0
        var rest: UInt32 = 0
        /// Of the whole line.
        var size: UInt32 = 0

        init(_ sentAt: Timestamp, _ texts: MessageTexts, _ source: UInt16) {
            self.sentAt = sentAt.milliseconds
            index = texts.index ?? -1
            self.source = source
            isBot = texts.isBot
            event = texts.event
            message = texts.id
            user = texts.user
            name = texts.name
            roles = texts.roles
            text = texts.text
        }
    }

    /// Writes a line as far as there is room; how long it is, or nil for an event about no message.
    static func write(_ event: ChatEvent, source: UInt16, to room: UnsafeMutableRawBufferPointer) -> Int? {
        let behind = UnsafeMutableRawBufferPointer(rebasing: room[MemoryLayout<Head>.stride...])
        guard let texts = event.copyTexts(to: behind) else { return nil }
        var head = Head(event.sentAt, texts, source)
        var size = MemoryLayout<Head>.stride + texts.total
        if texts.hasMore, let message = event.message {
            let rest = rest(of: message)
            head.rest = UInt32(rest.count)
            if size + rest.count <= room.count {
                UnsafeMutableRawBufferPointer(rebasing: room[size...]).copyBytes(from: rest)
            }
            size += rest.count
        }
        // Each begins where numbers may stand.
        size = (size + 7) / 8 * 8
        head.size = UInt32(size)
        room.storeBytes(of: head, as: Head.self)
        return size
    }

    /// How long the line is that begins there.
    static func size(at line: UnsafeRawPointer) -> Int { Int(line.loadUnaligned(as: Head.self).size) }

    private static func rest(of message: Message) -> [UInt8] {
        var writer = RowWriter()
        writer.bytes(message.replyTo.map { Array($0.utf8) })
        writer.attachments(message.attachments)
        return writer.bytes
    }

    init(from bytes: UnsafeRawBufferPointer, in realms: (UInt16) -> Realm) {
        let head = bytes.loadUnaligned(as: Head.self)
        var place = MemoryLayout<Head>.stride
        func next(_ count: UInt32) -> String {
            defer { place += Int(count) }
            return String(decoding: bytes[place..<place + Int(count)], as: UTF8.self)
        }
        source = head.source
        sentAt = Timestamp(milliseconds: head.sentAt)
        event = next(head.event)
        let own = next(head.message)
        let user = realms(head.source).user(next(head.user))
        let name = next(head.name)
        let roles = next(head.roles).split(separator: MessageTexts.betweenRoles).map(String.init)
        let author = Member(user: user, name: name, roles: roles, isBot: head.isBot)
        message = Message(
            id: own.isEmpty ? event : own, index: head.index < 0 ? nil : head.index, author: author,
            text: next(head.text))
        guard head.rest > 0 else { return }
        var reader = RowReader(Array(bytes[place..<place + Int(head.rest)]))
        let replyTo = reader.bytesOrNil() ?? nil
        message = Message(
            id: message.id, index: message.index, author: author, text: message.text,
            attachments: reader.attachments() ?? [],
            replyTo: replyTo.map { String(decoding: $0, as: UTF8.self) })
    }
}
