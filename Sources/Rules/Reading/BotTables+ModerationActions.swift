internal import Chat
internal import YAML

/// The actions that keep order.
extension BotTables {
    static let moderation: [Key<BotStep>] = [
        Key("strike", "Gives points on a ladder: 1, or {points, ladder, reason, user}.") {
            node, step, reader in
            if case .mapping = node.kind {
                reader.read(node, strike, into: &step)
            } else {
                step.deed.points = reader.points(node)
            }
        },
        Key("mute", "What the member writes is not to be seen for so long: 10m, or {for, reason, user, in}.")
        {
            node, step, reader in
            reader.deed(node, punishment, into: &step) { $0.deed.time = reader.length(node) }
        },
        Key("unmute", "Ends a mute; whose, or {user, in}.") { node, step, reader in
            reader.deed(node, pardon, into: &step) { $0.deed.user = reader.template(node) }
        },
        Key("kick", "Removes the member; why, or {reason, user, in}.") { node, step, reader in
            reader.deed(node, kick, into: &step) { $0.deed.reason = reader.template(node) }
        },
        Key(
            "ban",
            "Removes the member and keeps them out for so long, or for good: 30d, {for, reason, user, in}."
        ) {
            node, step, reader in
            reader.deed(node, punishment, into: &step) { $0.deed.time = reader.length(node) }
        },
        Key("unban", "Ends a ban; whose, or {user, in}.") { node, step, reader in
            reader.deed(node, pardon, into: &step) { $0.deed.user = reader.template(node) }
        },
        Key("slowmode", "Each member may write once in so long: 30s, none, or {to, in}.") {
            node, step, reader in
            reader.deed(node, slowmode, into: &step) { $0.deed.time = reader.slowness(node) }
        },
        Key("lock", "Only those who are exempt may write, for so long: 10m, or {for, reason, in}.") {
            node, step, reader in
            reader.deed(node, lock, into: &step) { $0.deed.time = reader.length(node) }
        },
        Key("unlock", "Everybody may write again; where, unless here.") { node, step, reader in
            reader.deed(node, unlock, into: &step) { $0.deed.places = reader.texts(node, "unlock") ?? [] }
        },
        Key("permit", "Lets somebody do for a while what a rule asks a permit for: {what, for, user}.") {
            node, step, reader in
            reader.deed(node, permit, into: &step) { $0.deed.name = reader.placedName(node, "permit") }
        },
        Key("enter_mode", "The mode that begins.") { node, step, reader in
            step.deed.name = reader.text(node).map { Placed($0, at: reader.spot(node)) }
        },
        Key("leave_mode", "The mode that ends; whichever it is, without a name.") { node, step, reader in
            if !node.isEmpty { step.deed.name = reader.text(node).map { Placed($0, at: reader.spot(node)) } }
        },
        Key("report", "Tells staff: a text, or {text, include, to, mention}.") { node, step, reader in
            reader.deed(node, report, into: &step) { $0.message.text = reader.template(node) }
        },
        Key("each", "The same for each of a list of users: {of: rate.users, do: […]}.") {
            node, step, reader in
            reader.read(node, each, into: &step)
            for name in ["of", "do"] where node.entries != nil && node[name] == nil {
                reader.error(
                    "\"each\" has no \"\(name)\"", at: node, hint: "try {of: rate.users, do: [kick]}")
            }
        },
        Key("confirm", "Asks whoever called it; what follows is done when they answer yes: {text, within}.") {
            node, step, reader in
            reader.message(node, confirm, into: &step)
        },
        Key("undo", "Undoes a case by its name: \"{{ args.case }}\".") { node, step, reader in
            step.deed.caseName = reader.template(node)
        },
    ]

    private static let userKey = Key<BotStep>(
        "user", "Whom: a value that names a user; who did it, unless given."
    ) {
        node, step, reader in
        step.deed.user = reader.template(node)
    }
    private static let forKey = Key<BotStep>("for", "For how long: 10m, or a value.") { node, step, reader in
        step.deed.time = reader.length(node)
    }
    private static let reasonKey = Key<BotStep>("reason", "Why; a template.") { node, step, reader in
        step.deed.reason = reader.template(node)
    }
    private static let inKey = Key<BotStep>("in", "In which channels; here, unless given.") {
        node, step, reader in
        step.deed.places = reader.texts(node, "in") ?? []
    }

    private static let others = [
        "who": "user", "member": "user", "time": "for", "duration": "for", "why": "reason", "channel": "in",
        "to": "in",
    ]

    static let strike = KeyTable<BotStep>(
        "strike", otherNames: others.merging(["count": "points", "on": "ladder"]) { first, _ in first },
        [
            Key("points", "How many: 1 unless given; less than 0 takes back.") { node, step, reader in
                step.deed.points = reader.points(node)
            },
            Key("ladder", "On which; not needed where there is only one.") { node, step, reader in
                step.deed.ladder = reader.text(node).map { Placed($0, at: reader.spot(node)) }
            },
            reasonKey, userKey,
        ])
    static let punishment = KeyTable<BotStep>(
        "a punishment", otherNames: others, [forKey, reasonKey, userKey, inKey])
    static let pardon = KeyTable<BotStep>("a pardon", otherNames: others, [userKey, inKey])
    static let kick = KeyTable<BotStep>("kick", otherNames: others, [reasonKey, userKey, inKey])
    static let lock = KeyTable<BotStep>("lock", otherNames: others, [forKey, reasonKey, inKey])
    static let unlock = KeyTable<BotStep>("unlock", otherNames: others, [inKey])
    static let slowmode = KeyTable<BotStep>(
        "slowmode", otherNames: ["for": "to", "every": "to", "channel": "in"],
        [
            Key("to", "Once in so long: 30s; or none.") { node, step, reader in
                step.deed.time = reader.slowness(node)
            },
            inKey,
        ])
    static let permit = KeyTable<BotStep>(
        "permit", otherNames: others.merging(["name": "what"]) { first, _ in first }, required: ["what"],
        [
            Key("what", "The name that conditions ask for.") { node, step, reader in
                step.deed.name = reader.placedName(node, "permit")
            },
            forKey, userKey,
        ])
    static let report = KeyTable<BotStep>(
        "report", otherNames: ["channel": "to", "in": "to", "message": "text", "with": "include"],
        [
            textKey,
            Key("include", "message, matched, history: what stands below the text.") { node, step, reader in
                step.deed.include =
                    reader.items(node, "include")?.compactMap { reader.choice($0, BotDeed.Include.self) }
                    ?? []
            },
            toKey, mentionKey,
        ])
    static let each = KeyTable<BotStep>(
        "each", otherNames: ["in": "of", "list": "of", "then": "do"],
        [
            Key("of", "The list: rate.users.") { node, step, reader in step.deed.list = reader.path(node) },
            Key("do", "Actions, in order; user is one of the list.") { node, step, reader in
                let path = "\(step.path).each"
                step.branches = [
                    BotBranch(
                        steps: reader.steps(node, under: path), spot: reader.spot(node), path: path)
                ]
            },
        ])
    static let confirm = KeyTable<BotStep>(
        "confirm", otherNames: ["question": "text", "for": "within"], required: ["text"],
        [
            textKey,
            Key("within", "How long an answer is waited for: 30s unless given.") { node, step, reader in
                if let time = reader.time(node) { step.deed.within = time }
            },
            Key("by", "same_user: who called it answers.") { node, _, reader in
                guard let text = reader.text(node), text != "same_user" else { return }
                reader.error("unknown value \"\(text.shortened)\"", at: node, hint: "use same_user")
            },
        ])
    static let delete = KeyTable<BotStep>(
        "delete", isNeverEmpty: true,
        [
            Key("last", "So many of the latest messages: 10, or a value.") { node, step, reader in
                step.deed.last = reader.points(node, 1...Int64(RecentMessages.most))
            },
            Key("from", "Of whom; of all, unless given.") { node, step, reader in
                step.deed.user = reader.template(node)
            },
            Key("keep_copy", "How long the texts are kept with the case.") { node, step, reader in
                step.deed.keepCopy = reader.time(node)
            },
        ])
}

extension BotFileReader {
    /// The keys of a deed, or what stands for the most important of them.
    func deed(
        _ node: YAMLNode, _ table: KeyTable<BotStep>, into step: inout BotStep, short: (inout BotStep) -> Void
    ) {
        if case .mapping = node.kind { read(node, table, into: &step) } else { short(&step) }
    }

    /// A whole number, or a value that is one.
    fileprivate func points(_ node: YAMLNode, _ range: ClosedRange<Int64> = -1000...1000) -> Template? {
        guard let text = text(node) else { return nil }
        guard text.contains("{{") || Int64(text).map({ range.contains($0) && $0 != 0 }) == true else {
            let least = max(1, range.lowerBound)
            error(
                "\"\(text.shortened)\" is not a number that fits here", at: node,
                hint: "use \(least) to \(range.upperBound)")
            return nil
        }
        return template(node)
    }

    /// `30s` or `none`.
    fileprivate func slowness(_ node: YAMLNode) -> BotDeed.Length? {
        isWord(node, "none") ? BotDeed.Length.none : length(node)
    }

    fileprivate func placedName(_ node: YAMLNode, _ what: String) -> Placed<String>? {
        guard text(node) != nil, let name = name(node, what) else { return nil }
        return Placed(name, at: spot(node))
    }
}
