internal import Chat
internal import Engine
internal import FoundationEssentials
internal import JSON
internal import Services
internal import Zones

/// Events in a file, one JSON object a line:
///
/// ```json
/// {"event":"messageAdded","at":"2026-06-15T12:00:00Z","channel":"lobby","user":"ana","text":"hello"}
/// ```
///
/// `event` may be left out for a message that was added, `at` for the time of the line before; `channel` and `user` are
/// an id, or an object with `id`, `name` and for users `roles` and `bot`. `id`, `account`, `realm`, `message`, `index`
/// and `attachments` (names) may be there.
enum EventLines {
    static func read(_ file: String, account: String, _ identities: Identities) throws -> [ChatEvent] {
        guard let data = try? Data(contentsOf: URL(filePath: file)) else {
            throw SettingsMistake("\(file): the file cannot be read")
        }
        var events: [ChatEvent] = []
        var last = Timestamp(milliseconds: 1_781_524_800_000)
        for (number, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            guard line.contains(where: { $0 > 32 }) else { continue }
            do {
                let event = try event(JSON(parsing: Array(line)), number + 1, account, last, identities)
                last = event.sentAt
                events.append(event)
            } catch {
                throw SettingsMistake("\(file):\(number + 1): \(error)")
            }
        }
        return events.enumerated().sorted { ($0.element.sentAt, $0.offset) < ($1.element.sentAt, $1.offset) }
            .map(\.element)
    }

    static func write(_ events: [ChatEvent], to file: String) throws {
        var bytes: [UInt8] = []
        for event in events {
            bytes += json(event).bytes()
            bytes.append(UInt8(ascii: "\n"))
        }
        do {
            try Data(bytes).write(to: URL(filePath: file))
        } catch {
            throw SettingsMistake("\(file): cannot be written")
        }
    }

    private static func event(
        _ json: JSON, _ number: Int, _ account: String, _ last: Timestamp, _ identities: Identities
    ) throws -> ChatEvent {
        guard json.object != nil else { throw SettingsMistake("a line is a JSON object") }
        let word = json["event"]?.string ?? "messageAdded"
        guard let name = EventName(rawValue: word) else { throw SettingsMistake("unknown event \"\(word)\"") }
        let account = json["account"]?.string ?? account
        let realm = identities.realm(json["realm"]?.string ?? account)
        var at = last
        if let text = json["at"]?.string {
            at = Timestamp(milliseconds: try ISO8601.moment(text))
        } else if let number = json["at"]?.int {
            at = Timestamp(milliseconds: number)
        }
        let member = json["user"].flatMap { user in
            (user.string ?? user["id"]?.string).map { id in
                Member(
                    user: realm.user(id), name: user["name"]?.string,
                    roles: user["roles"]?.array?.compactMap(\.string) ?? [], isBot: user["bot"]?.bool ?? false
                )
            }
        }
        let channel = json["channel"].flatMap { channel in
            (channel.string ?? channel["id"]?.string).map { id in
                Channel(
                    id: realm.channel(id), uniqueName: channel["name"]?.string ?? channel.string,
                    title: channel["title"]?.string ?? channel["name"]?.string ?? id,
                    isDirect: channel["direct"]?.bool ?? false)
            }
        }
        let message = member.map { member in
            Message(
                id: json["message"]?.string ?? "line-\(number)", index: json["index"]?.int, author: member,
                text: json["text"]?.string ?? "",
                attachments: (json["attachments"]?.array ?? []).compactMap(\.string).map {
                    .init(id: $0, name: $0, contentType: "application/octet-stream", size: 0)
                })
        }
        guard let kind = ChatEvent.Kind(name, member: member, message: message) else {
            throw SettingsMistake("\(word) needs a \"user\", or cannot be replayed")
        }
        return ChatEvent(
            id: json["id"]?.string ?? "line-\(number)", account: account, realm: realm, channel: channel,
            sentAt: at,
            kind: kind)
    }

    static func json(_ event: ChatEvent) -> JSON {
        var object: [(String, JSON)] = [
            ("event", .string(event.name?.rawValue ?? "")),
            ("at", .string(ISO8601.text(event.sentAt.milliseconds))),
            ("id", .string(event.id)), ("account", .string(event.account)),
            ("realm", .string(event.realm.name)),
        ]
        if let channel = event.channel {
            var parts: [(String, JSON)] = [("id", .string(channel.id.text))]
            if let name = channel.uniqueName { parts.append(("name", .string(name))) }
            if !channel.title.isEmpty { parts.append(("title", .string(channel.title))) }
            if channel.isDirect { parts.append(("direct", .bool(true))) }
            object.append(("channel", .object(JSONObject(parts))))
        }
        if let member = event.member {
            var parts: [(String, JSON)] = [("id", .string(member.user.text)), ("name", .string(member.name))]
            if !member.roles.isEmpty { parts.append(("roles", .array(member.roles.map { .string($0) }))) }
            if member.isBot { parts.append(("bot", .bool(true))) }
            object.append(("user", .object(JSONObject(parts))))
        }
        if let message = event.message {
            object += [("message", .string(message.id)), ("text", .string(message.text))]
            if let index = message.index { object.append(("index", .int(index))) }
            if !message.attachments.isEmpty {
                object.append(("attachments", .array(message.attachments.map { .string($0.name) })))
            }
        }
        return .object(JSONObject(object))
    }
}
