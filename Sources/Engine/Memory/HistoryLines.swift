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

    /// Oldest first.
    func lines(in realms: (UInt16) -> Realm) -> [HistoryLine] {
        bytes.withUnsafeBytes { bytes in
            starts[first...].map { HistoryLine(from: .init(rebasing: bytes[$0...]), in: realms) }
        }
    }

    /// By how many lines there are more with it.
    mutating func add(_ message: Message, of event: ChatEvent, source: UInt16) -> Int {
        if let channel = event.channel, !event.isIn(self.channel) { self.channel = channel }
        latest = event.sentAt
        starts.append(bytes.count)
        HistoryLine.write(message, of: event, source: source, to: &bytes)
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
        var sentAt: Int64
        var index: Int64
        var source: UInt16
        var isBot: Bool
        var event: UInt32
        /// 0: the message has the event's id, as in most services.
        var message: UInt32
        var user: UInt32
        var name: UInt32
        var roles: UInt32
        var text: UInt32
        var rest: UInt32
    }

    private static let betweenRoles: Character = "\u{1F}"

    static func write(_ message: Message, of event: ChatEvent, source: UInt16, to bytes: inout [UInt8]) {
        let author = message.author
        let own = message.id == event.id ? "" : message.id
        let roles = author.roles.count == 1 ? author.roles[0] : author.roles.joined(separator: "\u{1F}")
        let rest = rest(of: message)
        let (id, user, name, text) = (event.id, author.user.text, author.name, message.text)
        let head = Head(
            sentAt: event.sentAt.milliseconds, index: message.index ?? -1, source: source,
            isBot: author.isBot, event: UInt32(id.utf8.count), message: UInt32(own.utf8.count),
            user: UInt32(user.utf8.count), name: UInt32(name.utf8.count), roles: UInt32(roles.utf8.count),
            text: UInt32(text.utf8.count), rest: UInt32(rest.count))
        withUnsafeBytes(of: head) { bytes.append(contentsOf: $0.prefix(MemoryLayout<Head>.size)) }
        append(id, to: &bytes)
        append(own, to: &bytes)
        append(user, to: &bytes)
        append(name, to: &bytes)
        append(roles, to: &bytes)
        append(text, to: &bytes)
        if !rest.isEmpty { bytes.append(contentsOf: rest) }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        // Not `withUTF8`, which would hold the text once more.
        if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            bytes.append(contentsOf: text.utf8)
        }
    }

    private static func rest(of message: Message) -> [UInt8] {
        if message.replyTo == nil, message.attachments.isEmpty { return [] }
        var writer = RowWriter()
        writer.bytes(message.replyTo.map { Array($0.utf8) })
        writer.count(message.attachments.count)
        for attachment in message.attachments {
            writer.text(attachment.id)
            writer.text(attachment.name)
            writer.text(attachment.contentType)
            writer.number(attachment.size)
        }
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
        let roles = next(head.roles).split(separator: Self.betweenRoles).map(String.init)
        let author = Member(user: user, name: name, roles: roles, isBot: head.isBot)
        message = Message(
            id: own.isEmpty ? event : own, index: head.index < 0 ? nil : head.index, author: author,
            text: next(head.text))
        guard head.rest > 0 else { return }
        var reader = RowReader(Array(bytes[place..<place + Int(head.rest)]))
        let replyTo = reader.bytesOrNil() ?? nil
        var attachments: [Message.Attachment] = []
        for _ in 0..<(reader.count() ?? 0) {
            guard let id = reader.text(), let name = reader.text(), let type = reader.text(),
                let size = reader.number()
            else { break }
            attachments.append(.init(id: id, name: name, contentType: type, size: size))
        }
        message = Message(
            id: message.id, index: message.index, author: author, text: message.text,
            attachments: attachments, replyTo: replyTo.map { String(decoding: $0, as: UTF8.self) })
    }
}
