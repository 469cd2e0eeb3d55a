internal import Chat
internal import YAML

/// Conditions on how often something happens.
extension BotTables {
    static let rates: [Key<[BotCondition]>] = [
        Key("rate", "How often: 7 messages in 10s per user, or its parts as keys.") {
            node, conditions, reader in
            if case .mapping(let entries) = node.kind {
                var rate = BotRate(spot: reader.spot(node))
                let before = reader.findings.errorCount
                reader.read(node, BotTables.rate, into: &rate)
                let written = entries.compactMap(\.key.text)
                for name in ["count", "of", "in"] where !written.contains(name) {
                    // A misspelt key was noted already.
                    if written.contains(where: { BotTables.rate[$0] == nil }) { break }
                    reader.error(
                        "\"rate\" has no \"\(name)\"", at: node, hint: "try {count: 7, of: messages, in: 10s}"
                    )
                }
                if reader.findings.errorCount == before { conditions.append(.rate(rate)) }
                return
            }
            let spot = reader.spot(node)
            if let rate = reader.short(
                node,
                { (text: String) throws(ShortFormError) in
                    try BotRate(text: text, spot: spot)
                })
            {
                conditions.append(.rate(rate))
            }
        }
    ]

    static let rate = KeyTable<BotRate>(
        "rate",
        otherNames: ["at_least": "count", "kind": "of", "what": "of", "time": "in", "within": "in"],
        [
            Key("count", "How often at least.") { node, rate, reader in
                let count = reader.short(node) { (text: String) throws(ShortFormError) in
                    try BotRate.count(text)
                }
                if let count { rate.count = count }
            },
            Key("of", "What is counted: messages, joins, similar, …") { node, rate, reader in
                let kind = reader.short(node) { (text: String) throws(ShortFormError) in
                    try BotRate.kind(text)
                }
                if let kind { rate.kind = kind }
            },
            Key("in", "In how long: 10s.") { node, rate, reader in
                let time = reader.short(node) { (text: String) throws(ShortFormError) in
                    try BotRate.time(text)
                }
                if let time { rate.time = time }
            },
            Key("per", "user or channel: each is counted by itself.") { node, rate, reader in
                rate.per = reader.choice(node, BotRate.Per.self)
            },
            Key("across", "channel, service or all: where it is counted together.") { node, rate, reader in
                if let across = reader.choice(node, BotRate.Across.self) { rate.across = across }
            },
            Key("distinct", "user or channel: so many different ones, not so many times.") {
                node, rate, reader in
                rate.distinct = reader.choice(node, BotRate.Distinct.self)
            },
            Key("only", "Whose count, written like user: {first_time: true}.") { node, rate, reader in
                var user = BotUser(spot: reader.spot(node))
                reader.read(node, BotTables.user, into: &user)
                rate.only = user
            },
        ])
}
