internal import Chat

/// The values that the templates of a rule can print for one event.
struct TemplateValues: Sendable {
    var event: ChatEvent
    var situation: Situation
    let vars: [String: String]
    /// The named groups of the expression that matched.
    var groups: [String: String] = [:]
    /// What was written behind a command.
    var arguments: [String: TemplateValue] = [:]
    /// The rule's own variables.
    var locals: [String: TemplateValue] = [:]
    var counters: [String: Counter] = [:]
    /// How long the rule's windows are open.
    var window: OpenSpan?
    /// What the rule's rate has counted.
    var rate: RateValues?
    /// The strike that was given.
    var strike: StrikeValues?
    var ladders: [String: Ladder] = [:]
    var calm = "calm"
    /// The entry of a ban list that the rule has found.
    var policy: Policy?
    /// The users and messages that a batch has collected; nil elsewhere.
    var batch: (users: [TemplateValue], messages: [TemplateValue])?

    func value(of path: TemplatePath) -> TemplateValue {
        switch path.root {
        case "vars":
            guard let field = path.field else { return .absent }
            return locals[field] ?? vars[field].map { .ours($0) } ?? .absent
        case "match": return path.field.flatMap { groups[$0] }.map { .theirs($0) } ?? .absent
        case "args":
            guard let name = path.field?.split(separator: ".", maxSplits: 1) else { return .absent }
            let value = arguments[String(name[0])] ?? .absent
            return name.count == 1 ? value : value.part(String(name[1]))
        case "counters":
            return path.field.flatMap { counters[$0] }.map { .counter($0.value(self)) } ?? .absent
        case "strikes": return path.field.flatMap { ladders[$0] }.map { .counter($0.value(self)) } ?? .absent
        case "window": return window?.part(path.field) ?? .absent
        case "users": return .list(batch?.users ?? [])
        case "messages": return .list(batch?.messages ?? [])
        default: return TemplateRoot.named[path.root]?.field(path.field)?.read(self) ?? .absent
        }
    }
}

extension TemplateValue {
    /// What can be asked of a user.
    static let partsOfUser: [(name: String, kind: Kind)] = [
        ("name", .text), ("id", .text), ("mention", .user),
    ]

    fileprivate func part(_ name: String) -> TemplateValue {
        guard case .user(let id, let shown) = self else { return .absent }
        return switch name {
        case "name": .theirs(shown)
        case "id": .theirs(id)
        case "mention": .mention(id: id, name: shown)
        default: .absent
        }
    }
}

/// A family of values, such as all that is known of the user.
struct TemplateRoot: Sendable {
    struct Field: Sendable {
        /// Empty for the root itself.
        let name: String
        /// One line for the manual.
        let about: String
        let kind: TemplateValue.Kind
        let read: @Sendable (TemplateValues) -> TemplateValue

        init(
            _ name: String, _ about: String, _ kind: TemplateValue.Kind,
            _ read: @escaping @Sendable (TemplateValues) -> TemplateValue
        ) {
            self.name = name
            self.about = about
            self.kind = kind
            self.read = read
        }
    }

    /// What an event must have for the values to exist.
    enum Source: Sendable { case any, member, message, reaction, policy, channel }

    let name: String
    let source: Source
    let fields: [Field]

    func field(_ name: String?) -> Field? { fields.first { $0.name == name ?? "" } }

    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Roots that the language has and steward has not built yet.
    static let later: Set<String> = ["body", "rota", "stats", "error"]

    /// All values by their full names.
    static let paths = all.flatMap { root in
        root.fields.map { $0.name.isEmpty ? root.name : "\(root.name).\($0.name)" }
    }

    /// Roots whose values a rule or a file declares.
    static let declared = ["args", "counters", "match", "messages", "strikes", "users", "vars", "window"]

    static let all: [TemplateRoot] = [
        TemplateRoot(
            name: "user", source: .member,
            fields: [
                Field("", "Who did it: the name people see.", .user) { $0.user },
                Field("name", "The name people see.", .text) {
                    $0.event.member.map { .theirs($0.name) } ?? .absent
                },
                Field("id", "The service's name for them.", .text) {
                    $0.event.member.map { .theirs($0.user.text) } ?? .absent
                },
                Field("mention", "@name; it calls them if mention: names them.", .user) {
                    $0.event.member.map { .mention(id: $0.user.text, name: $0.name) } ?? .absent
                },
                Field("messages", "How many messages of theirs were seen.", .number) {
                    .number($0.situation.facts.messages)
                },
                Field("member_for", "How long they have been here.", .duration) {
                    $0.situation.memberFor($0.event).map { .duration($0) } ?? .absent
                },
                Field("away", "How long they were not seen before.", .duration) {
                    $0.situation.away($0.event).map { .duration($0) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "message", source: .message,
            fields: [
                Field("text", "What it says.", .text) {
                    $0.event.message.map { .theirs($0.text) } ?? .absent
                },
                Field("id", "The service's name for it.", .text) {
                    $0.event.message.map { .theirs($0.id) } ?? .absent
                },
                Field("index", "Its number in the channel.", .number) {
                    $0.event.message?.index.map { .number($0) } ?? .absent
                },
                Field("attachments", "The names of its files.", .list) {
                    .list($0.event.message?.attachments.map { .theirs($0.name) } ?? [])
                },
                Field("sent", "When it was sent, in UTC.", .time) { .time($0.event.sentAt) },
            ]),
        TemplateRoot(
            name: "by", source: .any,
            fields: [
                Field("", "Who did it to the user, where the service tells: who kicked them.", .user) {
                    $0.doer.map { .user(id: $0.id, name: $0.name) } ?? .absent
                },
                Field("name", "The name people see.", .text) {
                    $0.doer.map { .theirs($0.name) } ?? .absent
                },
                Field("id", "The service's name for them.", .text) {
                    $0.doer.map { .theirs($0.id) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "reaction", source: .reaction,
            fields: [
                Field("key", "The emoji.", .text) {
                    $0.event.reaction.map { .theirs($0.key) } ?? .absent
                },
                Field("message", "The service's name for the message it is put to.", .text) {
                    $0.event.reaction.map { .theirs($0.message.id) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "policy", source: .policy,
            fields: [
                Field("entity", "Whom the entry of a ban list is about, as it is written there.", .text) {
                    $0.foundPolicy.map { .theirs($0.entity) } ?? .absent
                },
                Field("reason", "Why.", .text) {
                    $0.foundPolicy?.reason.map { .theirs($0) } ?? .absent
                },
                Field("list", "The list's name in config.yaml.", .text) {
                    $0.foundPolicy.map { .ours($0.list) } ?? .absent
                },
                Field("subject", "user, server or channel.", .text) {
                    $0.foundPolicy.map { .ours($0.subject.rawValue) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "channel", source: .channel,
            fields: [
                Field("", "The title of the channel.", .channel) { $0.channelTitle },
                Field("title", "The title of the channel.", .text) { $0.channelTitle },
                Field("name", "The name that does not change.", .text) { values in
                    values.event.channel.map { .theirs($0.uniqueName ?? $0.id.text) } ?? .absent
                },
                Field("id", "The service's name for it.", .text) {
                    $0.event.channel.map { .theirs($0.id.text) } ?? .absent
                },
                Field("members", "How many members it has.", .number) {
                    $0.event.channel?.memberCount.map { .number(Int64($0)) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "rate", source: .any,
            fields: [
                Field("count", "How often it was.", .number) { values in
                    values.rate.map { .number(Int64($0.count)) } ?? .absent
                },
                Field("span", "From the first to the last of them.", .duration) { values in
                    values.rate.map { .duration($0.span) } ?? .absent
                },
                Field("users", "Whose they were.", .list) { values in
                    .list((values.rate?.users ?? []).map { .user(id: $0.text, name: $0.text) })
                },
            ]),
        TemplateRoot(
            name: "strike", source: .any,
            fields: [
                Field("points", "How many points the strike gave.", .number) { values in
                    values.strike.map { .number($0.points) } ?? .absent
                },
                Field("reason", "Why.", .text) { $0.strike?.reason ?? .absent },
                Field("total", "How many points there are now.", .number) { values in
                    values.strike.map { .number($0.total) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "mode", source: .any,
            fields: [
                Field("name", "The mode that there is.", .text) { values in
                    .ours(Mode(values.situation.memory.value(of: Mode.key))?.name ?? values.calm)
                },
                Field("since", "When it was entered.", .time) { values in
                    Mode(values.situation.memory.value(of: Mode.key)).map { .time($0.since) } ?? .absent
                },
            ]),
        TemplateRoot(
            name: "service", source: .any,
            fields: [
                Field("name", "The chat service, such as twilio.", .text) { values in
                    .ours(
                        values.situation.directory.accounts[values.event.account]?.service
                            ?? values.event.account)
                },
                Field("account", "The account's name in config.yaml.", .text) { .ours($0.event.account) },
            ]),
    ]
}

extension TemplateValues {
    fileprivate var doer: (id: String, name: String)? {
        event.by.map { People.find($0.text, event, situation.memory) ?? ($0.text, $0.text) }
    }

    fileprivate var foundPolicy: Policy? { policy ?? event.policy }

    fileprivate var user: TemplateValue {
        event.member.map { .user(id: $0.user.text, name: $0.name) } ?? .absent
    }

    fileprivate var channelTitle: TemplateValue {
        event.channel.map { .theirs($0.title) } ?? .absent
    }
}

extension Situation {
    /// How long the event's member has been in its channel, or known at all where neither steward saw that nor the service
    /// says it; nil when nothing is known.
    func memberFor(_ event: ChatEvent) -> Duration? {
        if case .memberJoined = event.kind { return .zero }
        return (facts.joined ?? event.member?.joinedAt ?? facts.firstSeen).map {
            max(.zero, event.sentAt - $0)
        }
    }

    /// How long the event's member had not been seen before; nil when they never were. What is done about an event a
    /// while later knows them by that event.
    func away(_ event: ChatEvent) -> Duration? {
        if let first = facts.firstSeen, first >= event.sentAt { return nil }
        return facts.lastSeen.map { max(.zero, event.sentAt - $0) }
    }
}
