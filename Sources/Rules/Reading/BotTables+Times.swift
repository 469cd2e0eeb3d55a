internal import Chat
internal import YAML
internal import Zones

/// Windows of time, and conditions on times and on values.
extension BotTables {
    static let window = KeyTable<BotWindow>(
        "a window",
        otherNames: [
            "day": "days", "hours": "between", "time": "between", "from": "between", "timezone": "zone",
            "tz": "zone",
        ],
        [
            Key("days", "The days on which it begins: mon-fri, or a list; every day unless given.") {
                node, window, reader in
                guard let texts = reader.texts(node, "days") else { return }
                window.days = Placed(texts.map(\.value), at: reader.spot(node))
            },
            Key("between", "From when to when, which may be over midnight; the whole day unless given.") {
                node, window, reader in
                window.between = reader.text(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("zone", "Required: the zone of its clock, such as Europe/Oslo.") { node, window, reader in
                window.zone = reader.text(node).map { Placed($0, at: reader.spot(node)) }
            },
        ])

    static let time = KeyTable<BotTime>(
        "time",
        otherNames: ["none": "not", "in": "any", "windows": "any"],
        [
            Key("any", "Windows of which one must be open.") { node, time, reader in
                time.any = reader.texts(node, "any")
            },
            Key("not", "A window that must be closed, or a list.") { node, time, reader in
                time.not = reader.texts(node, "not") ?? []
            },
        ])

    static let check = KeyTable<Parts>(
        "check",
        otherNames: ["of": "value", "equals": "is", "in": "is"],
        [
            Key("value", "A template: what is looked at.") { node, parts, reader in
                parts.value = reader.template(node)
            },
            Key("is", "A text, a range, or a list of which one must fit.") { node, parts, reader in
                parts.wanted = reader.texts(node, "is")
            },
        ])

    /// What is written of a check.
    struct Parts: Sendable {
        var value: Template?
        var wanted: [Placed<String>]?
    }

    static let times: [Key<[BotCondition]>] = [
        Key("time", "The window that must be open, or {any: [night, weekend], not: office}.") {
            node, conditions, reader in
            var time = BotTime(spot: reader.spot(node))
            if case .mapping(let entries) = node.kind {
                reader.read(node, BotTables.time, into: &time)
                if entries.isEmpty {
                    reader.error("this condition is empty", at: node, hint: "name a window")
                }
            } else {
                guard let names = reader.texts(node, "time") else { return }
                time.any = names
            }
            conditions.append(.time(time))
        },
        Key("check", "A value and what it must be: {value: \"{{ args.n }}\", is: 5+}.") {
            node, conditions, reader in
            var parts = Parts()
            reader.read(node, BotTables.check, into: &parts)
            guard let entries = node.entries else { return }
            for name in ["value", "is"] where !entries.contains(where: { $0.key.text == name }) {
                reader.error(
                    "\"check\" has no \"\(name)\"", at: node, hint: "try {value: \"{{ args.n }}\", is: 5+}")
            }
            guard let value = parts.value, let wanted = parts.wanted else { return }
            conditions.append(.check(BotCheck(value: value, wanted: wanted, spot: reader.spot(node))))
        },
    ]
}

extension BotFileReader {
    func windows(_ node: YAMLNode, into file: inout BotFile) {
        for entry in mapping(node, "windows") ?? [] {
            guard let name = name(entry.key, "window") else { continue }
            var window = BotWindow(name: Placed(name, at: spot(entry.key)))
            read(entry.value, BotTables.window, into: &window)
            if let entries = entry.value.entries, !entries.contains(where: { $0.key.text == "zone" }) {
                error(
                    "window \"\(name)\" has no \"zone\"", at: entry.key,
                    hint: "say whose clock counts: zone: Europe/Oslo")
            }
            file.windows.append(window)
        }
    }
}
