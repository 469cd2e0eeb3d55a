internal import Chat
internal import YAML

extension BotTables {
    /// The actions by name; what is read is the message they carry.
    static let actions = KeyTable<BotStep>(
        "an action", noun: "action",
        otherNames: [
            "remove": "delete", "answer": "reply", "say": "send", "post": "send", "forward": "relay",
            "message": "send", "reaction": "react", "redact": "delete",
            "part": "leave", "rename": "title", "server_acl": "acl", "timeout": "mute", "silence": "mute",
            "block": "ban", "slow_mode": "slowmode", "purge": "delete",
        ],
        [
            Key("reply", "Answers the message.") { node, step, reader in
                reader.message(node, BotTables.reply, into: &step)
            },
            Key("send", "Writes into the channel, or where to: says.") { node, step, reader in
                reader.message(node, BotTables.send, into: &step)
            },
            Key("dm", "Writes to the member alone.") { node, step, reader in
                reader.message(node, BotTables.dm, into: &step)
            },
            Key("react", "Puts an emoji to the message.") { node, step, reader in
                step.message.text = reader.template(node)
            },
            Key("delete", "Removes the message.") { node, step, reader in
                switch node.text {
                case _ where reader.isWord(node, "message"): break
                case _ where reader.isWord(node, "burst"): step.deed.isBurst = true
                default:
                    if case .mapping = node.kind {
                        reader.read(node, BotTables.delete, into: &step)
                        if let from = node["from"], node["last"] == nil {
                            reader.error(
                                "this does not say how many of theirs", at: from, hint: "add last: 10",
                                code: .missingKey)
                        }
                    } else if let text = node.text, !node.isEmpty {
                        reader.error(
                            "unknown value \"\(text.shortened)\"", at: node,
                            hint: Suggestion.hint(for: text, among: ["message", "burst"])
                                ?? "write - delete alone, or delete: burst", code: .unknownName)
                    } else {
                        _ = reader.text(node)
                    }
                }
            },
            Key("warn", "Answers with a note that names the member and goes away after a minute.") {
                node, step, reader in
                step.message.deleteAfter = .seconds(60)
                step.message.splits = false
                reader.message(node, BotTables.warn, into: &step)
            },
            Key("log", "Writes a line into steward's log.") { node, step, reader in
                reader.message(node, BotTables.log, into: &step)
            },
            Key("relay", "Copies the message to another channel.") { node, step, reader in
                if case .mapping = node.kind {
                    reader.read(node, BotTables.relay, into: &step)
                } else {
                    step.message.to = reader.texts(node, "relay") ?? []
                }
            },
            .later("http"),
            Key("count", "Adds to counters: {karma: +1}, {karma: {user: \"{{ match.who }}\", by: +1}}.") {
                node, step, reader in
                reader.counts(node, into: &step)
            },
            Key("reset", "Counters begin anew: karma, or {karma: {user: \"{{ args.who }}\"}}.") {
                node, step, reader in
                reader.resets(node, into: &step)
            },
            .later("wait"), .later("cancel"),
            Key("choose", "The first branch whose if: holds: - if: … and do: …") { node, step, reader in
                reader.branches(node, into: &step)
            },
            Key("stop", "No further rule is asked about this event.") { node, _, reader in
                if !node.isEmpty { reader.error("\"stop\" takes nothing", at: node, hint: "write - stop") }
            },
            .later("plugin", "a plugin acts by itself; rules can ask its conditions: if: {plugin: …}"),
        ] + moderation + channelActions)

    static let textKey = Key<BotStep>("text", "What it says; a template.") { node, step, reader in
        step.message.text = reader.template(node)
    }
    private static let silentKey = Key<BotStep>("silent", "true: without a notification, where possible.") {
        node, step, reader in
        step.message.silent = reader.bool(node) ?? false
    }
    private static let threadKey = Key<BotStep>("thread", "true: in a thread, where there are threads.") {
        node, step, reader in
        step.message.thread = reader.bool(node) ?? false
    }
    static let mentionKey = Key<BotStep>("mention", "Who is called: user, or a list of values.") {
        node, step, reader in
        step.message.mention = reader.items(node, "mention")?.compactMap(reader.path) ?? []
    }
    private static let deleteAfterKey = Key<BotStep>("delete_after", "When it is removed again: 20s, 6h.") {
        node, step, reader in
        step.message.deleteAfter = reader.time(node) ?? step.message.deleteAfter
    }
    static let toKey = Key<BotStep>("to", "Channels by name.") { node, step, reader in
        step.message.to = reader.texts(node, "to") ?? []
    }
    private static let quoteKey = Key<BotStep>("quote", "true: the message stands above it as a quote.") {
        node, step, reader in
        step.message.quote = reader.bool(node) ?? false
    }
    private static let footerKey = Key<BotStep>("footer", "A last line; a template.") { node, step, reader in
        step.message.footer = reader.template(node)
    }

    private static let splitKey = Key<BotStep>(
        "split", "false: a text that is too long is cut, not sent in parts."
    ) { node, step, reader in
        step.message.splits = reader.bool(node) ?? true
    }

    private static let otherNames = [
        "channel": "to", "channels": "to", "in": "to", "message": "text", "body": "text", "ping": "mention",
        "mentions": "mention", "in_thread": "thread",
    ]

    static let reply = KeyTable<BotStep>(
        "reply", otherNames: otherNames, required: ["text"],
        [textKey, splitKey, threadKey, silentKey, mentionKey, deleteAfterKey, quoteKey, footerKey])
    static let send = KeyTable<BotStep>(
        "send", otherNames: otherNames, required: ["text"],
        [
            textKey, splitKey, toKey, silentKey, mentionKey, deleteAfterKey, footerKey,
            .later("key", "remove it: each message stands by itself for now"),
        ])
    static let dm = KeyTable<BotStep>(
        "dm", otherNames: otherNames, required: ["text"],
        [
            textKey, splitKey, silentKey, footerKey,
            Key("if_closed", "skip: nothing, when the member cannot be written to.") { node, step, reader in
                guard let text = reader.text(node) else { return }
                step.message.skipsIfClosed = text == "skip"
                guard text != "skip" else { return }
                reader.error("unknown value \"\(text.shortened)\"", at: node, hint: "use skip")
            },
        ])
    static let warn = KeyTable<BotStep>(
        "warn", otherNames: otherNames, required: ["text"],
        [textKey, silentKey, mentionKey, deleteAfterKey])
    static let relay = KeyTable<BotStep>(
        "relay", otherNames: otherNames, required: ["to"],
        [toKey, textKey, splitKey, quoteKey, footerKey, silentKey, mentionKey])
}

extension BotFileReader {
    /// The actions under a `do`: each one word, or one key with its value.
    func steps(_ node: YAMLNode, under path: String = "do") -> [BotStep] {
        guard case .sequence(let items) = node.kind else {
            switch node.kind {
            case .unreadable: break
            case .mapping: error("\"do\" is a list of actions", at: node, hint: "put \"- \" before each")
            default:
                if node.isEmpty {
                    _ = text(node)
                } else {
                    error("\"do\" is a list of actions", at: node, hint: Self.listed(node.text ?? ""))
                }
            }
            return []
        }
        if items.isEmpty { error("\"do\" is an empty list", at: node, hint: "say what to do") }
        return items.enumerated().compactMap { index, item in step(item, path: "\(path)[\(index)]") }
    }

    /// How an action is written that was put behind `do:`.
    private static func listed(_ text: String) -> String {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, BotTables.actions[words[0]] != nil else {
            return "write - \(text.shortened)"
        }
        return "write - \(words[0]): \"\(words[1].shortened)\" in the next line"
    }

    private func step(_ node: YAMLNode, path: String) -> BotStep? {
        switch node.kind {
        case .unreadable: return nil
        case .sequence:
            error("an action is one word, or one key with its value", at: node)
            return nil
        case .scalar(let name, _):
            if node.isEmpty {
                _ = text(node)
                return nil
            }
            if let witness {
                witness.took(BotStep.Verb.allCases.filter(\.standsAlone).map(\.rawValue), node)
                return nil
            }
            guard let verb = verb(name, at: node) else { return nil }
            guard verb.standsAlone else {
                error("\"\(name)\" does not say what", at: node, hint: "write \(name): \"…\"")
                return nil
            }
            return BotStep(verb: verb, spot: spot(node), path: path)
        case .mapping(let entries):
            if let witness {
                witness.took(
                    BotTables.actions, BotStep(verb: .reply, spot: spot(node), path: path), node,
                    isOneKey: true)
                return nil
            }
            guard let entry = entries.first else {
                error("this action is empty", at: node)
                return nil
            }
            if entries.count > 1 {
                error(
                    "an action is one key with its value", at: entries[1].key,
                    hint:
                        "put \"- \" before \"\(entries[1].key.text ?? "it")\", or indent it below \"\(entry.key.text ?? "it")\""
                )
            }
            guard let name = entry.key.text, let verb = verb(name, at: entry.key) else { return nil }
            var step = BotStep(verb: verb, spot: spot(entry.key), path: path)
            BotTables.actions[name]?.read?(entry.value, &step, self)
            return step
        }
    }

    private func verb(_ name: String, at node: YAMLNode) -> BotStep.Verb? {
        guard let key = BotTables.actions[name] else {
            error(
                "unknown action \"\(name.shortened)\"", at: node, hint: BotTables.actions.hint(for: name),
                code: .unknownName)
            return nil
        }
        guard key.read != nil, let verb = BotStep.Verb(rawValue: name) else {
            notBuilt(name, at: node, hint: key.wayOut)
            return nil
        }
        return verb
    }

    /// The text alone, or the text with more keys.
    func message(_ node: YAMLNode, _ table: KeyTable<BotStep>, into step: inout BotStep) {
        guard case .mapping = node.kind else {
            step.message.text = template(node)
            return
        }
        read(node, table, into: &step)
        if step.message.text == nil, node["text"] == nil {
            error("\"\(table.owner)\" has no \"text\"", at: node, code: .missingKey)
        }
    }
}
