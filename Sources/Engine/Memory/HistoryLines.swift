internal import Chat

/// A message as it is kept for a while.
struct HistoryLine: Sendable {
    /// Which of the history's accounts read it.
    var source: UInt16
    var event: String
    var sentAt: Timestamp
    var message: Message
}

/// The last messages of one channel, in one stretch of bytes.
struct HistoryLines: Sendable {
    private(set) var channel: Channel
    private(set) var latest = Timestamp(milliseconds: 0)
    private var bytes: [UInt8] = []
    /// Where each line begins; those before `first` are over.
    private var starts: [Int] = []
    private var first = 0

    init(_ channel: Channel) {
        self.channel = channel
    }

    var count: Int { starts.count - first }

    /// That of its channel.
    var number: UInt32 { channel.id.identity.number }

    /// Oldest first.
    func lines(in realms: (UInt16) -> Realm) -> [HistoryLine] {
        bytes.withUnsafeBytes { bytes in
            starts[first...].map { HistoryLine(from: .init(rebasing: bytes[$0...]), in: realms) }
        }
    }

    /// Reads where the next line will stand, so that it is near when it is written.
    mutating func touch() -> UInt8 { bytes.last ?? 0 }

    /// By how many lines there are more with it.
    mutating func add(_ event: ChatEvent, source: UInt16) -> Int {
        if !event.isIn(channel), let channel = event.channel { self.channel = channel }
        latest = event.sentAt
        starts.append(bytes.count)
        HistoryLine.write(event, source: source, to: &bytes)
        guard count > History.most else { return 1 }
        first += 1
        // Moved together once for so many lines, so that it costs next to nothing.
        if first == History.most { dropOver() }
        return 0
    }

    private mutating func dropOver() {
        let over = starts[first]
        bytes.removeFirst(over)
        starts.removeFirst(first)
        for index in starts.indices { starts[index] -= over }
        first = 0
    }
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

        init() {}

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

    static func write(_ event: ChatEvent, source: UInt16, to bytes: inout [UInt8]) {
        let place = bytes.count
        withUnsafeBytes(of: Head()) { bytes.append(contentsOf: $0) }
        guard let texts = event.appendTexts(to: &bytes) else { return }
        var head = Head(event.sentAt, texts, source)
        if texts.hasMore, let message = event.message {
            let rest = rest(of: message)
            head.rest = UInt32(rest.count)
            bytes.append(contentsOf: rest)
        }
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: head, toByteOffset: place, as: Head.self) }
    }

    private static func rest(of message: Message) -> [UInt8] {
        var writer = RowWriter()
        writer.bytes(message.replyTo.map { Array($0.utf8) })
        writer.attachments(message.attachments)
        return writer.bytes
    }

    init(from bytes: UnsafeRawBufferPointer, in realms: (UInt16) -> Realm) {
        let head = bytes.loadUnaligned(as: Head.self)
        var place = MemoryLayout<Head>.size
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
