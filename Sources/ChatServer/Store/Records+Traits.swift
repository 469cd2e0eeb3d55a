internal import Chat
internal import JSON

// What only some clients know of, as it is written in the store: members are left out where they say nothing.

extension JSON {
    fileprivate func texts(_ key: String) -> [String: String] {
        Dictionary((self[key]?.object ?? JSONObject()).map { ($0.key, $0.value.string ?? "") }) { first, _ in
            first
        }
    }

    fileprivate func list(_ key: String) -> [String] { (self[key]?.array ?? []).compactMap(\.string) }
}

extension JSONWriter {
    fileprivate mutating func member(_ key: String, unlessEmpty text: String) {
        if !text.isEmpty { member(key, text) }
    }

    fileprivate mutating func member(_ key: String, unlessEmpty texts: [String: String]) {
        guard !texts.isEmpty else { return }
        object(key) { for (name, text) in texts { $0.member(name, text) } }
    }

    fileprivate mutating func member(_ key: String, unlessEmpty list: some Sequence<String>) {
        var texts = list.makeIterator()
        guard let first = texts.next() else { return }
        array(key) { writer in
            writer.value(first)
            while let text = texts.next() { writer.value(text) }
        }
    }
}

extension MessageTraits {
    func write(_ writer: inout JSONWriter) {
        if isAdmin { writer.member("admin", true) }
        if let data { writer.member("data", data) }
        writer.member("custom", unlessEmpty: customType)
        writer.member("mentioned", unlessEmpty: mentioned)
        if mentionsAll { writer.member("mentionsAll", true) }
        if let parent { writer.member("parent", parent) }
        if isSilent { writer.member("silent", true) }
        if let metaArray { writer.member("meta", metaArray) }
        guard let link else { return }
        writer.object("link") { writer in
            writer.member("url", link.url)
            writer.member("name", link.name)
            writer.member("type", link.type)
            writer.member("size", link.size)
        }
    }

    init(record: JSON) {
        isAdmin = record["admin"]?.bool ?? false
        data = record["data"]?.string
        customType = record["custom"]?.string ?? ""
        mentioned = record.list("mentioned")
        mentionsAll = record["mentionsAll"]?.bool ?? false
        parent = record["parent"]?.int
        isSilent = record["silent"]?.bool ?? false
        metaArray = record["meta"]?.string
        if let file = record["link"], let url = file["url"]?.string {
            link = Link(
                url: url, name: file["name"]?.string ?? "", type: file["type"]?.string ?? "",
                size: file["size"]?.int ?? 0)
        }
    }
}

extension ChannelTraits {
    func write(_ writer: inout JSONWriter) {
        if isOpen { writer.member("open", true) }
        if isFrozen { writer.member("frozen", true) }
        writer.member("cover", unlessEmpty: coverURL)
        if let data { writer.member("data", data) }
        writer.member("custom", unlessEmpty: customType)
        if isDistinct { writer.member("distinct", true) }
        if isSuper { writer.member("super", true) }
        writer.member("accessCode", unlessEmpty: accessCode)
        writer.member("metadata", unlessEmpty: metadata)
    }

    init(record: JSON) {
        isOpen = record["open"]?.bool ?? false
        isFrozen = record["frozen"]?.bool ?? false
        coverURL = record["cover"]?.string ?? ""
        data = record["data"]?.string
        customType = record["custom"]?.string ?? ""
        isDistinct = record["distinct"]?.bool ?? false
        isSuper = record["super"]?.bool ?? false
        accessCode = record["accessCode"]?.string ?? ""
        metadata = record.texts("metadata")
    }
}

extension Sentence {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("start", start.milliseconds)
        if let end { writer.member("end", end.milliseconds) }
        writer.member("why", unlessEmpty: why)
    }

    fileprivate init?(record: JSON) {
        guard let start = record["start"]?.int else { return nil }
        self.init(
            start: Timestamp(milliseconds: start),
            end: record["end"]?.int.map { Timestamp(milliseconds: $0) }, why: record["why"]?.string ?? "")
    }
}

extension Channel.Order {
    func write(_ writer: inout JSONWriter) {
        writer.member("inviters", unlessEmpty: inviters)
        writer.member("operators", unlessEmpty: operators)
        for (key, sentences) in [("mutes", mutes), ("bans", bans)] where !sentences.isEmpty {
            writer.object(key) { writer in
                for (identity, sentence) in sentences { writer.object(identity) { sentence.write(&$0) } }
            }
        }
    }

    init(record: JSON) {
        func sentences(_ key: String) -> [String: Sentence] {
            Dictionary(
                (record[key]?.object ?? JSONObject()).compactMap { name, value in
                    Sentence(record: value).map { (name, $0) }
                }
            ) { first, _ in first }
        }
        self.init(
            inviters: record.texts("inviters"), operators: Set(record.list("operators")),
            mutes: sentences("mutes"), bans: sentences("bans"))
    }
}

extension Person {
    func writeTraits(_ writer: inout JSONWriter) {
        if !isActive { writer.member("active", false) }
        writer.member("image", unlessEmpty: profileURL)
        writer.member("metadata", unlessEmpty: metadata)
        if let lastSeen { writer.member("seen", lastSeen.milliseconds) }
        if accessSerial > 0 { writer.member("access", accessSerial) }
        if sessionSerial > 0 { writer.member("sessions", sessionSerial) }
        writer.member("blocked", unlessEmpty: blocked)
    }

    mutating func readTraits(_ record: JSON) {
        isActive = record["active"]?.bool ?? true
        profileURL = record["image"]?.string ?? ""
        metadata = record.texts("metadata")
        lastSeen = record["seen"]?.int.map { Timestamp(milliseconds: $0) }
        accessSerial = record["access"]?.int ?? 0
        sessionSerial = record["sessions"]?.int ?? 0
        blocked = Set(record.list("blocked"))
    }
}
