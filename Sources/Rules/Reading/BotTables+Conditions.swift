internal import Chat
internal import YAML

extension BotTables {
    static let conditions = KeyTable<[BotCondition]>(
        "a condition", noun: "condition",
        otherNames: [
            "or": "any", "and": "all", "none": "not", "message": "text", "body": "text", "member": "user",
        ],
        deeper: Dictionary(
            text.names.map { ($0, "text") } + user.names.map { ($0, "user") },
            uniquingKeysWith: { first, _ in first }),
        [
            Key("text", "What the text must have.") { node, conditions, reader in
                if let text = reader.textCondition(node) { conditions.append(.text(text)) }
            },
            Key("user", "What the member must be like.") { node, conditions, reader in
                var user = BotUser(spot: reader.spot(node))
                reader.read(node, BotTables.user, into: &user)
                conditions.append(.user(user))
            },
        ] + counts + times + rates + plugins + [
            Key("mode", "The mode that there is: a name, a list of which one is enough, or {not: name}.") {
                node, conditions, reader in
                var test = BotModeTest()
                if case .mapping = node.kind {
                    reader.read(node, BotTables.mode, into: &test)
                } else {
                    test.modes = reader.texts(node, "mode") ?? []
                }
                conditions.append(.mode(test))
            }
        ] + happenings + [
            Key("any", "A list of which one must hold.") { node, conditions, reader in
                conditions.append(.any(reader.conditionList(node, "any")))
            },
            Key("all", "A list of which all must hold.") { node, conditions, reader in
                conditions.append(.all(reader.conditionList(node, "all")))
            },
            Key("not", "Must not hold.") { node, conditions, reader in
                guard case .mapping = node.kind else {
                    if case .unreadable = node.kind { return }
                    reader.error(
                        "\"not\" takes one condition", at: node,
                        hint:
                            "for \"none of these\" write not: {any: [...]}, for \"not all of these\" not: {all: [...]}"
                    )
                    return
                }
                if let condition = reader.condition(node) { conditions.append(.not(condition)) }
            },
        ])

    static let text = KeyTable<BotText>(
        "text",
        otherNames: [
            "any": "has_any", "all": "has_all", "none": "has_none", "has": "has_any", "contains": "has_any",
            "words": "has_any", "pattern": "regex", "is": "equals", "field": "fields",
        ],
        [
            Key("has_any", "Words of which one must occur.") { node, text, reader in
                text.any = reader.words(node, "has_any")
            },
            Key("has_all", "Words that must all occur.") { node, text, reader in
                text.all = reader.words(node, "has_all")
            },
            Key("has_none", "Words of which none may occur.") { node, text, reader in
                text.none = reader.words(node, "has_none")
            },
            Key("equals", "The whole text.") { node, text, reader in
                text.equals = reader.words(node, "equals")
            },
            Key("starts_with", "How it begins.") { node, text, reader in
                text.starts = reader.words(node, "starts_with")
            },
            Key("ends_with", "How it ends.") { node, text, reader in
                text.ends = reader.words(node, "ends_with")
            },
            Key("regex", "A regular expression in RE2's syntax; named groups become {{ match.name }}.") {
                node, text, reader in
                text.regexes = reader.texts(node, "regex", mayBeBlank: true)
            },
            Key("near", "Words with spelling mistakes: {any: [password], edits: 2}.") { node, text, reader in
                var near = BotText.Near(spot: reader.spot(node))
                reader.read(node, BotTables.near, into: &near)
                if near.words.isEmpty, node.entries != nil, node["any"] == nil {
                    reader.error("\"near\" has no \"any\"", at: node, hint: "try {any: [password], edits: 2}")
                }
                text.near = near
            },
            Key("match", "word, anywhere, prefix or suffix: where the words count.") { node, text, reader in
                if let match = reader.choice(node, BotText.Match.self) { text.match = match }
                text.isMatchWritten = true
            },
            Key("fold", "exact, plain, loose or squeezed: which differences make none.") {
                node, text, reader in
                guard let fold = reader.choice(node, FoldName.self) else { return }
                text.fold = Placed(fold.rawValue, at: reader.spot(node))
            },
            Key("fields", "Where to look: body, user.name, attachments.name.") { node, text, reader in
                let fields = reader.items(node, "fields")?.compactMap {
                    reader.choice($0, BotText.Field.self, "field")
                }
                if let fields, !fields.isEmpty { text.fields = fields }
            },
            Key("skip", "What is not looked at: links, code, quotes, or none; all three by default.") {
                node, text, reader in
                if reader.isWord(node, "none") {
                    text.skip = []
                } else if let items = reader.items(node, "skip") {
                    text.skip = Set(items.compactMap { reader.choice($0, BotText.Skip.self) })
                }
            },
        ])

    enum FoldName: String, CaseIterable { case exact, plain, loose, squeezed }

    static let near = KeyTable<BotText.Near>(
        "near",
        otherNames: ["words": "any", "distance": "edits"],
        [
            Key("any", "The words, spelled right.") { node, near, reader in
                near.words = reader.words(node, "any") ?? []
            },
            Key("edits", "How many letters may differ, at most a quarter of the word.") {
                node, near, reader in
                guard let text = reader.text(node) else { return }
                guard let edits = Int(text), (1...8).contains(edits) else {
                    reader.error(
                        "\"\(text.shortened)\" is not a number of letters", at: node, hint: "use 1 to 8")
                    return
                }
                near.edits = edits
            },
        ])

    static let user = KeyTable<BotUser>(
        "user",
        otherNames: [
            "roles": "role", "is_bot": "bot", "age": "member_for", "new": "first_time", "ids": "id",
        ], isNeverEmpty: true,
        [
            Key("first_time", "true: never seen before in this service.") { node, user, reader in
                user.firstTime = reader.bool(node)
            },
            Key("bot", "true: a program; without it programs are not looked at.") { node, user, reader in
                user.bot = reader.bool(node)
            },
            Key("role", "A role, a list of which one is enough, or {not: role}.") { node, user, reader in
                if case .mapping = node.kind {
                    reader.read(node, BotTables.role, into: &user)
                } else {
                    user.roles = reader.texts(node, "role")
                }
            },
            Key("member_for", "How long a member here: under 1d, over 7d.") { node, user, reader in
                user.memberFor = reader.durations(node)
            },
            .later("account_age"),
            Key("away", "How long not seen before this: over 90d.") { node, user, reader in
                user.away = reader.durations(node)
            },
            Key("messages", "How many messages so far: under 5.") { node, user, reader in
                user.messages = reader.numbers(node)
            },
            Key("strikes", "How many points: 3+, or {ladder: conduct, total: 3+}.") { node, user, reader in
                var strikes = BotStrikes(spot: reader.spot(node))
                if case .mapping = node.kind {
                    reader.read(node, BotTables.strikes, into: &strikes)
                } else {
                    strikes.total = reader.numbers(node)
                }
                // What is wrong with it was said.
                if strikes.total == nil, node["total"] != nil || node.entries == nil { return }
                user.strikes = strikes
            },
            Key("name", "What the name must have, written like text.") { node, user, reader in
                guard var name = reader.textCondition(node) else { return }
                name.fields = [.userName]
                name.skip = []
                user.name = name
            },
            Key("id", "The service's name for them, or a list.") { node, user, reader in
                user.ids = reader.texts(node, "id")
            },
            Key("permit", "A permit that they have, a list of which one is enough, or {not: links}.") {
                node, user, reader in
                if case .mapping = node.kind {
                    reader.read(node, BotTables.permitTest, into: &user)
                } else {
                    user.permits = reader.texts(node, "permit")
                }
            },
            Key("left_by", "choice, or removal: somebody removed them, as far as steward knows.") {
                node, user, reader in
                user.leftBy = reader.choice(node, BotUser.LeftBy.self)
            },
            Key("is_not", "A value that must name somebody else, such as match.who.") { node, user, reader in
                user.isNot = reader.path(node)
            },
        ])

    static let role = KeyTable<BotUser>(
        "role", isNeverEmpty: true,
        [
            Key("not", "A role the member must not have, or a list.") { node, user, reader in
                user.notRoles = reader.texts(node, "not")
            }
        ])
}

extension BotFileReader {
    /// All keys of a mapping must hold; of a list, all mappings.
    func condition(_ node: YAMLNode) -> BotCondition? {
        switch node.kind {
        case .sequence: return .all(conditionList(node, "if"))
        case .mapping(let entries):
            var conditions: [BotCondition] = []
            let before = findings.errorCount
            read(node, BotTables.conditions, into: &conditions)
            // What asks for nothing would hold for everything.
            if entries.isEmpty || conditions.isEmpty && findings.errorCount == before && !isBroken {
                error("this condition is empty", at: node, hint: "remove it or fill it")
            }
            return conditions.count == 1 ? conditions[0] : .all(conditions)
        default:
            _ = mapping(
                node, "a condition", hint: node.text.map { "for the word write {text: \($0.shortened)}" })
            return nil
        }
    }

    func conditionList(_ node: YAMLNode, _ what: String) -> [BotCondition] {
        guard case .sequence(let items) = node.kind else {
            if case .unreadable = node.kind { return [] }
            error("\"\(what)\" takes a list of conditions", at: node)
            return []
        }
        if items.isEmpty { error("\"\(what)\" is an empty list", at: node, hint: "remove it or fill it") }
        return items.compactMap { item in
            guard case .mapping = item.kind else {
                _ = mapping(item, "a condition")
                return nil
            }
            return condition(item)
        }
    }

    func textCondition(_ node: YAMLNode) -> BotText? {
        var text = BotText(spot: spot(node))
        guard case .mapping(let entries) = node.kind else {
            text.any = words(node, "text")
            return text.any == nil ? nil : text
        }
        read(node, BotTables.text, into: &text)
        if text.isEmpty {
            let tests = [
                "has_any", "has_all", "has_none", "equals", "starts_with", "ends_with", "regex", "near",
            ]
            let isTried = entries.contains { entry in
                entry.key.text.map { tests.contains($0) || BotTables.text[$0] == nil } ?? true
            }
            if !isTried {
                error("\"text\" does not say what to look for", at: node, hint: "try {has_any: [word]}")
            }
            return nil
        }
        if text.fields != [.body], text.fields.contains(.body) == false { text.skip = [] }
        return text
    }

    /// Words, `$list` among them; each checked for what can be seen here.
    func words(_ node: YAMLNode, _ what: String) -> [Placed<String>]? {
        texts(node, what, mayBeBlank: true)
    }

    func path(_ node: YAMLNode) -> Placed<TemplatePath>? {
        guard let text = text(node) else { return nil }
        guard let path = TemplatePath(text) else {
            error(
                "\"\(text.shortened)\" is not the name of a value", at: node, hint: "try user or match.name")
            return nil
        }
        return Placed(path, at: spot(node))
    }
}
