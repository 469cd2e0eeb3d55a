internal import Chat
internal import YAML

/// Conditions on what can be counted in a message.
extension BotTables {
    static let counts: [Key<[BotCondition]>] = [
        Key("links", "How many links, or {hosts_in, hosts_not_in, count, fold}.") {
            node, conditions, reader in
            var links = BotLinks(spot: reader.spot(node))
            if case .mapping = node.kind {
                reader.read(node, BotTables.links, into: &links)
                if links.count == nil, links.hostsIn == nil, links.hostsNotIn == nil {
                    if let entries = node.entries, !entries.isEmpty,
                        entries.allSatisfy({ $0.key.text == "fold" })
                    {
                        reader.error(
                            "\"links\" does not say which or how many", at: node,
                            hint: "try {count: 1+, fold: loose}")
                    }
                    return
                }
            } else {
                guard let count = reader.numbers(node) else { return }
                links.count = count
            }
            conditions.append(.links(links))
        },
        Key("mentions", "How many people are called, everyone, or {at_least, of}.") {
            node, conditions, reader in
            var mentions = BotMentions(spot: reader.spot(node))
            if node.text == "everyone" {
                mentions.everyone = true
            } else if case .mapping = node.kind {
                reader.read(node, BotTables.mentions, into: &mentions)
                if mentions.count == nil {
                    mentions.count = try? Bounds(numbers: "1+")
                }
            } else {
                guard let count = reader.numbers(node) else { return }
                mentions.count = count
            }
            conditions.append(.mentions(mentions))
        },
        Key("caps", "How much is in capitals: {share: 80%+, letters: 15+}.") { node, conditions, reader in
            var caps = BotCaps(spot: reader.spot(node))
            reader.read(node, BotTables.caps, into: &caps)
            guard let entries = node.entries else { return }
            guard caps.share != nil else {
                if !entries.contains(where: { $0.key.text == "share" }) {
                    reader.error(
                        "\"caps\" has no \"share\"", at: node, hint: "try {share: 80%+, letters: 15+}")
                }
                return
            }
            conditions.append(.caps(caps))
        },
        count("length", .length, "How long the text is, in letters as people count them."),
        count("lines", .lines, "How many lines the text has."),
        count("emoji", .emoji, "How many emoji the text has."),
        Key("marks", "How many combining marks the text has; over 6 per letter finds stacked ones.") {
            node, conditions, reader in
            guard let text = reader.text(node) else { return }
            let isStacked = text.hasSuffix(" per letter")
            let range = isStacked ? String(text.dropLast(" per letter".count)) : text
            if let bounds = reader.numbers(range, node) {
                let measure = isStacked ? Measure.marksOnOne : .marks
                conditions.append(
                    .count(BotMeasure(measure: measure, range: bounds, spot: reader.spot(node))))
            }
        },
        count("attachments", .attachments, "How many files came with the message."),
    ]

    private static func count(_ name: String, _ measure: Measure, _ about: String) -> Key<[BotCondition]> {
        Key(name, about) { node, conditions, reader in
            guard let range = reader.numbers(node) else { return }
            conditions.append(.count(BotMeasure(measure: measure, range: range, spot: reader.spot(node))))
        }
    }

    static let links = KeyTable<BotLinks>(
        "links",
        otherNames: ["hosts": "hosts_in", "in": "hosts_in", "not_in": "hosts_not_in", "at_least": "count"],
        isNeverEmpty: true,
        [
            Key("hosts_in", "Hosts of which one must be linked; each covers its sub-domains.") {
                node, links, reader in
                links.hostsIn = reader.texts(node, "hosts_in")
            },
            Key("hosts_not_in", "Hosts beside which another must be linked.") { node, links, reader in
                links.hostsNotIn = reader.texts(node, "hosts_not_in")
            },
            Key("count", "How many of such links; one unless given.") { node, links, reader in
                links.count = reader.numbers(node)
            },
            Key("fold", "loose: spelled-out dots are seen through, as in \"example (dot) org\".") {
                node, links, reader in
                guard let fold = reader.choice(node, LinkFold.self) else { return }
                links.isLoose = fold == .loose
            },
        ])

    enum LinkFold: String, CaseIterable { case plain, loose }

    static let mentions = KeyTable<BotMentions>(
        "mentions",
        otherNames: ["count": "at_least", "who": "of"], isNeverEmpty: true,
        [
            Key("at_least", "How many at least; 1 unless given.") { node, mentions, reader in
                guard let text = reader.text(node) else { return }
                guard let number = Int64(text), number > 0, let range = try? Bounds(numbers: "\(number)+")
                else {
                    reader.error("\"\(text.shortened)\" is not a number of people", at: node, hint: "try 1")
                    return
                }
                mentions.count = range
            },
            Key("of", "anyone, or members: people that steward has seen.") { node, mentions, reader in
                if let of = reader.choice(node, BotMentions.Of.self) { mentions.of = of }
            },
        ])

    static let caps = KeyTable<BotCaps>(
        "caps",
        otherNames: ["percent": "share", "length": "letters"],
        [
            Key("share", "How many of a hundred letters are capitals: 80%+.") { node, caps, reader in
                caps.share = reader.percentages(node)
            },
            Key("letters", "How many letters there must be: 15+.") { node, caps, reader in
                caps.letters = reader.numbers(node)
                if let letters = caps.letters, Span(letters).most == 0 {
                    reader.error("of no letters none is a capital", at: node, hint: "try 15+")
                }
            },
        ])
}
