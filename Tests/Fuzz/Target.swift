internal import Chat
internal import ChatTesting
internal import Rules
internal import YAML

/// What can be fed, by name.
enum Target {
    typealias Try = @Sendable ([UInt8]) -> Void

    static let named: [String: Try] = [
        "yaml": yaml, "rules": rules, "format": format, "template": template, "matcher": matcher,
    ]

    private static let directory = Directory(
        accounts: [
            "test": .init(
                service: "test",
                abilities: Abilities(
                    events: Set(EventName.allCases), actions: ["reply", "send", "dm", "delete", "react"],
                    textLimit: .init(200, .utf16)), joins: ["general", "support", "staff"])
        ], channels: ["lobby": ["test": "general"]])

    @Sendable private static func yaml(_ bytes: [UInt8]) {
        let document = YAMLDocument.read(bytes)
        precondition(document.root == nil || document.source.lines.count > 0)
        for error in document.errors { _ = document.source.excerpt(at: error.place) }
    }

    @Sendable private static func rules(_ bytes: [UInt8]) {
        let loaded = RuleSet.load([BotSource(name: "x", bytes: bytes)], directory: directory) { _ in
            Array("word\nlong phrase*\n".utf8)
        }
        precondition((loaded.rules == nil) == !loaded.errors.isEmpty)
        for finding in loaded.findings { _ = finding.report }
        guard let rules = loaded.rules else { return }
        _ = rules.runExamples()
        tell(rules, "a word and http://example.org, \u{1F469}\u{200D}\u{1F4BB} héllo", by: "ana")
    }

    /// Whatever a file says, it says the same in another layout, and one layout is enough.
    @Sendable private static func format(_ bytes: [UInt8]) {
        guard case .formatted(let once) = BotFormatter.format(BotSource(name: "x", bytes: bytes)) else {
            return
        }
        guard case .formatted(let twice) = BotFormatter.format(BotSource(name: "x", bytes: once)) else {
            preconditionFailure("a formatted file has mistakes")
        }
        precondition(once == twice)
        precondition(
            (try? BotComparison(
                from: .init(files: [BotSource(name: "x", bytes: bytes)]),
                to: .init(files: [BotSource(name: "x", bytes: once)])))?.changes.isEmpty != false)
    }

    /// A template, the name it is about and the text it is about, with zero bytes between.
    @Sendable private static func template(_ bytes: [UInt8]) {
        let parts = parts(of: bytes, 3)
        let source = """
            version: 1
            vars: {x: "\(quoted(parts[2]))"}
            rules:
              it:
                when: [messageAdded, memberJoined]
                do:
                  - reply: {text: "\(quoted(parts[0]))", quote: true, mention: [user]}
                  - send: {to: staff, text: "\(quoted(parts[0]))", footer: "{{ vars.x }}"}
            """
        guard let rules = load(source) else { return }
        tell(rules, parts[2], by: parts[1])
    }

    /// Words with commas, an expression, how to look, and a text, with zero bytes between.
    @Sendable private static func matcher(_ bytes: [UInt8]) {
        let parts = parts(of: bytes, 4)
        let words = parts[0].split(separator: ",").map { "\"\(quoted(String($0)))\"" }.joined(separator: ", ")
        let look = parts[2].utf8.first.map(Int.init) ?? 0
        let fold = ["exact", "plain", "loose"][look % 3]
        let match = ["word", "anywhere", "prefix", "suffix"][look / 3 % 4]
        let source = """
            version: 1
            rules:
              words:
                when: messageAdded
                if: {any: [{text: {has_any: [\(words)], fold: \(fold), match: \(match)}}, {text: {near: {any: [\(words)], edits: 2}}}]}
                do: [{reply: x}]
              expression:
                when: messageAdded
                if: {text: {regex: "\(quoted(parts[1]))"\(look % 2 == 0 ? ", fold: \(fold)" : ", skip: none")}}
                do: [{reply: x}]
              both:
                when: messageAdded
                if: {not: {text: {has_all: [\(words)], starts_with: [\(words)], ends_with: [\(words)], equals: [\(words)]}}}
                do: [{reply: x}]
            """
        guard let rules = load(source) else { return }
        tell(rules, parts[3], by: "ana")
    }

    private static func load(_ source: String) -> RuleSet? {
        let loaded = RuleSet.load([BotSource(name: "x", bytes: Array(source.utf8))], directory: directory)
        for finding in loaded.findings { _ = finding.report }
        return loaded.rules
    }

    private static func tell(_ rules: RuleSet, _ text: String, by user: String) {
        for event in [ChatEvent.message(text, from: user), ChatEvent.join(user)] {
            for handler in rules.handlers {
                _ = try? handler.decide(event, in: .test(directory: directory))
            }
        }
        _ = rules.explain(
            say: text, as: user, in: "lobby", roles: [], now: Timestamp(milliseconds: 1_781_524_800_000))
    }

    private static func parts(of bytes: [UInt8], _ count: Int) -> [String] {
        let parts = bytes.split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        return parts + Array(repeating: "", count: count - parts.count)
    }

    /// The text as it stands between double quotes in YAML.
    private static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16)
                result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            }
        }
        return result
    }
}
