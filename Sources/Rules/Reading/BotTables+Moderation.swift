internal import Chat
internal import YAML

/// Ladders and modes, and what is asked of them.
extension BotTables {
    static let ladder = KeyTable<BotLadder>(
        "a ladder", otherNames: ["decay": "forgive", "levels": "steps"], required: ["steps"],
        [
            Key("forgive", "How many points go away in how long: 1 per 7d; or never.") {
                node, ladder, reader in
                if reader.isWord(node, "never") { return }
                ladder.forgive = reader.short(node) { (text: String) throws(ShortFormError) in
                    try StrikeLedger.Forgiveness(text: text)
                }
            },
            Key("steps", "Actions by the points that lead to them: {3: [{mute: 1d}]}.") {
                node, ladder, reader in
                ladder.steps = reader.ladderSteps(node, of: ladder.name.value)
            },
        ])

    static let modeKeys = KeyTable<BotMode>(
        "a mode", otherNames: ["for": "clears_after", "announce": "announce_to"],
        [
            Key("default", "true: the mode that there is when no other was entered.") { node, mode, reader in
                mode.isDefault = reader.bool(node) ?? false
            },
            Key("clears_after", "When it ends by itself: 30m.") { node, mode, reader in
                mode.clearsAfter = reader.time(node)
            },
            Key("announce_to", "Where it is told that it begins and ends: a channel, or a list.") {
                node, mode, reader in
                mode.announceTo = reader.texts(node, "announce_to") ?? []
            },
        ])

    static let mode = KeyTable<BotModeTest>(
        "mode", isNeverEmpty: true,
        [
            Key("not", "A mode that there must not be, or a list.") { node, test, reader in
                test.notModes = reader.texts(node, "not") ?? []
            }
        ])

    static let permitTest = KeyTable<BotUser>(
        "permit", isNeverEmpty: true,
        [
            Key("not", "A permit that they must not have, or a list.") { node, user, reader in
                user.notPermits = reader.texts(node, "not")
            }
        ])

    static let strikes = KeyTable<BotStrikes>(
        "strikes", otherNames: ["points": "total", "count": "total"], isNeverEmpty: true,
        [
            Key("ladder", "Which; not needed where there is only one.") { node, strikes, reader in
                strikes.ladder = reader.text(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("total", "How many points: 3+.") { node, strikes, reader in
                strikes.total = reader.numbers(node)
            },
        ])

    static let strikeEvent = KeyTable<BotStrikeEvent>(
        "strikes", otherNames: ["points": "total", "count": "total"],
        [
            Key("ladder", "Which; not needed where there is only one.") { node, event, reader in
                event.ladder = reader.text(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("total", "How many points after it: 3+; any, unless given.") { node, event, reader in
                event.total = reader.numbers(node)
            },
        ])

    static let breakerKeys = KeyTable<BotBreaker>(
        "a breaker",
        [
            Key("matches", "More matches than this: 5 unless given.") { node, breaker, reader in
                if let number = reader.number(node, 1...100_000) { breaker.matches = Int(number) }
            },
            Key("share", "And more than this part of all that it looked at: 5% unless given.") {
                node, breaker, reader in
                guard let text = reader.text(node) else { return }
                guard let share = Int(text.hasSuffix("%") ? String(text.dropLast()) : text),
                    (0...100).contains(share)
                else {
                    reader.error("\"\(text.shortened)\" is not a part of a hundred", at: node, hint: "try 5%")
                    return
                }
                if share == 100 {
                    reader.error(
                        "nothing is more than all, so it would never trip", at: node,
                        hint: "try 5%, or breaker: none")
                }
                breaker.share = share
            },
            Key("in", "In how long: 1h unless given.") { node, breaker, reader in
                if let time = reader.duration(node) { breaker.time = time }
            },
        ])
}

extension BotFileReader {
    func modes(_ node: YAMLNode, into file: inout BotFile) {
        for entry in mapping(node, "modes") ?? [] {
            guard let name = name(entry.key, "mode") else { continue }
            var mode = BotMode(name: Placed(name, at: spot(entry.key)))
            read(entry.value, BotTables.modeKeys, into: &mode)
            if mode.isDefault, let time = mode.clearsAfter {
                error("the default mode does not end by itself, after \(time.short) neither", at: entry.value)
            }
            file.modes.append(mode)
        }
    }

    func ladders(_ node: YAMLNode, into file: inout BotFile) {
        for entry in mapping(node, "ladders") ?? [] {
            guard let name = name(entry.key, "ladder") else { continue }
            var ladder = BotLadder(name: Placed(name, at: spot(entry.key)))
            read(entry.value, BotTables.ladder, into: &ladder)
            if entry.value.entries != nil, entry.value["steps"] == nil {
                error(
                    "ladder \"\(name)\" has no \"steps\"", at: entry.key, hint: "try steps: {3: [{mute: 1d}]}"
                )
            }
            file.ladders.append(ladder)
        }
    }

    fileprivate func ladderSteps(_ node: YAMLNode, of ladder: String) -> [BotLadderStep] {
        var steps: [BotLadderStep] = []
        let entries =
            mapping(node, "steps", hint: "write the points before each, as in 3: [{mute: 1d}]") ?? []
        if entries.isEmpty, node.entries != nil {
            error("the ladder \"\(ladder)\" leads nowhere", at: node, hint: "try {3: [{mute: 1d}]}")
        }
        for (index, entry) in entries.enumerated() {
            let points = number(entry.key, 1...1000) ?? 1
            if let twice = steps.first(where: { $0.points.value == points }) {
                error(
                    "the step at \(points) stands here twice", at: entry.key,
                    hint: "the first is at \(twice.points.spot.place)")
            }
            let actions = self.steps(entry.value, under: "\(ladder)[\(index)]")
            for step in actions.flatMap(\.andBelow) where !step.verb.fitsLadder {
                findings.error("\"\(step.verb.rawValue)\" cannot stand in a ladder", at: step.spot)
            }
            steps.append(BotLadderStep(points: Placed(points, at: spot(entry.key)), steps: actions))
        }
        return steps.sorted { $0.points.value < $1.points.value }
    }

    func breaker(_ node: YAMLNode) -> BotBreaker {
        if isWord(node, "none") { return .none }
        var breaker = BotBreaker.usual
        breaker.isWritten = true
        guard case .mapping = node.kind else {
            error(
                "\"breaker\" is none, or keys with values", at: node,
                hint: "try {matches: 5, share: 5%, in: 1h}")
            return breaker
        }
        read(node, BotTables.breakerKeys, into: &breaker)
        return breaker
    }

    private static let forGood: Set<String> = [
        "forever", "for ever", "for good", "permanent", "permanently", "always", "never", "infinite",
        "indefinite",
    ]

    /// `10m`, or a value that is one.
    func length(_ node: YAMLNode) -> BotDeed.Length? {
        if let text = node.text, text.contains("{{") { return template(node).map { .made($0) } }
        if let word = node.text?.lowercased(), Self.forGood.contains(word) {
            error(
                "\"\(word)\" is not a duration", at: node,
                hint: "leave the time out: what has none lasts until it is taken back")
            return nil
        }
        return time(node).map { .fixed($0) }
    }
}

extension BotStep.Verb {
    fileprivate var fitsLadder: Bool {
        switch self {
        case .warn, .mute, .unmute, .kick, .ban, .report, .send, .dm, .log, .count, .reset, .choose, .permit:
            true
        default: false
        }
    }
}

extension StrikeLedger.Forgiveness {
    /// Reads `1 per 7d`.
    init(text: String) throws(ShortFormError) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 3, words[1] == "per" else {
            throw ShortFormError(
                problem: "\"\(text.shortened)\" does not say what is forgiven",
                hint: "try \"1 per 7d\", or never")
        }
        var mistakes = ShortFormMistakes()
        let points = Int64(words[0]) ?? 0
        if !(1...1000).contains(points) {
            mistakes.add("\"\(words[0])\" is not a number of points", hint: "use 1 to 1000, or never")
        }
        let time = mistakes.read { () throws(ShortFormError) in try Duration(text: words[2]) }
        if let time, time < .seconds(1) {
            mistakes.add("\"\(words[2])\" is too short a time", hint: "try \"1 per 7d\"")
        }
        try mistakes.end()
        self.init(points: points, time: time ?? .zero)
    }
}
