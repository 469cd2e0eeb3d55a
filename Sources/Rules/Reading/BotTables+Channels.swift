internal import Chat
internal import YAML

/// Conditions about what services tell beside messages, and the actions that change channels.
extension BotTables {
    static let happenings: [Key<[BotCondition]>] = [
        Key("reaction", "The emoji of a reaction, or a list of which one is enough.") {
            node, conditions, reader in
            guard let keys = reader.words(node, "reaction") else { return }
            conditions.append(.reaction(BotReactions(spot: reader.spot(node), keys: keys)))
        },
        Key("by", "Who did it: member, whom it is about; steward; another; or a list.") {
            node, conditions, reader in
            let who = reader.items(node, "by")?.compactMap { reader.choice($0, BotDoer.Who.self) } ?? []
            if !who.isEmpty { conditions.append(.by(BotDoer(spot: reader.spot(node), who: Set(who)))) }
        },
        Key("policy", "A ban list of config.yaml that has the member, or a list of which one is enough.") {
            node, conditions, reader in
            guard let lists = reader.texts(node, "policy") else { return }
            conditions.append(.policy(BotPolicies(spot: reader.spot(node), lists: lists)))
        },
    ]

    static let channelActions: [Key<BotStep>] = [
        Key("invite", "Asks somebody in; whom, or {user, in}.") { node, step, reader in
            reader.deed(node, invite, into: &step) { $0.deed.user = reader.template(node) }
        },
        Key("join", "Steward becomes a member of a channel: its id or alias, or a value.") {
            node, step, reader in
            step.message.text = reader.template(node)
        },
        Key("leave", "Steward leaves the channel; which, unless this one.") { node, step, reader in
            if !node.isEmpty { step.deed.places = reader.texts(node, "leave") ?? [] }
        },
        Key("create", "A new channel; its title, or {title, invite}.") { node, step, reader in
            reader.deed(node, create, into: &step) { $0.message.text = reader.template(node) }
            if step.message.text == nil, node.entries != nil, node["title"] == nil {
                reader.error("\"create\" has no \"title\"", at: node, code: .missingKey)
            }
        },
        Key("title", "The channel is called so; or {text, in}.") { node, step, reader in
            reader.naming(node, "title", into: &step)
        },
        Key("topic", "What the channel is about; or {text, in}.") { node, step, reader in
            reader.naming(node, "topic", into: &step)
        },
        Key("acl", "Which servers' people may be in the channel: {deny, allow, from, in}.") {
            node, step, reader in
            reader.read(node, acl, into: &step)
            if let entries = node.entries, !entries.isEmpty, entries.allSatisfy({ $0.key.text == "in" }) {
                reader.error(
                    "\"acl\" names no servers", at: node, hint: "add deny: \"*.example.org\"",
                    code: .missingKey)
            }
        },
    ]

    private static let inKey = Key<BotStep>("in", "In which channels; here, unless given.") {
        node, step, reader in
        step.deed.places = reader.texts(node, "in") ?? []
    }

    private static let others = [
        "who": "user", "member": "user", "channel": "in", "channels": "in", "to": "in", "name": "title",
    ]

    static let invite = KeyTable<BotStep>(
        "invite", otherNames: others,
        [
            Key("user", "Whom: a value that names a user; who did it, unless given.") { node, step, reader in
                step.deed.user = reader.template(node)
            },
            inKey,
        ])

    static let create = KeyTable<BotStep>(
        "create", otherNames: others,
        [
            Key("title", "What it is called.") { node, step, reader in
                step.message.text = reader.template(node)
            },
            Key("invite", "Who is asked in: user, args.who, or a list.") { node, step, reader in
                step.deed.guests = reader.items(node, "invite")?.compactMap(reader.path) ?? []
            },
        ])

    static let naming = KeyTable<BotStep>("a name", otherNames: others, [textKey, inKey])

    static let acl = KeyTable<BotStep>(
        "acl", otherNames: others.merging(["ban": "deny", "policy": "from"]) { first, _ in first },
        isNeverEmpty: true,
        [
            Key("deny", "Servers, or a value that names one; * stands for any text.") { node, step, reader in
                step.deed.denied = reader.items(node, "deny")?.compactMap { reader.template($0) } ?? []
            },
            Key("allow", "Servers that are denied no more.") { node, step, reader in
                step.deed.allowed = reader.items(node, "allow")?.compactMap { reader.template($0) } ?? []
            },
            Key("from", "Ban lists: all servers that stand in them are denied.") { node, step, reader in
                step.deed.policyLists = reader.texts(node, "from") ?? []
            },
            inKey,
        ])
}

extension BotFileReader {
    /// What a channel is called from then on.
    fileprivate func naming(_ node: YAMLNode, _ name: String, into step: inout BotStep) {
        deed(node, BotTables.naming, into: &step) { $0.message.text = template(node) }
        if step.message.text == nil, node.entries != nil, node["text"] == nil {
            error("\"\(name)\" has no \"text\"", at: node, hint: "add text:", code: .missingKey)
        }
    }
}
