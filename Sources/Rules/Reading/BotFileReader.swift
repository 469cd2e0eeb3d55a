internal import Chat
internal import YAML

/// Reads a bot's file by the tables of its keys. Every mistake is noted with its place, and reading goes on.
final class BotFileReader {
    let file: String
    let findings: Findings
    let source: YAMLSource
    /// Names that stand in tests, to be looked up when all files are read.
    var testRules: [Placed<String>] = []
    var testRoles: [Placed<String>] = []
    var testChannels: [Placed<String>] = []
    var testCounters: [(name: Placed<String>, hasSubject: Bool)] = []
    var testModes: [Placed<String>] = []
    var testLadders: [Placed<String>] = []
    var testPolicies: [Placed<String>] = []
    private let root: YAMLNode?
    /// Whether parts of the file are missing, because they are no YAML.
    let isBroken: Bool
    /// Told what is asked of each node, when the reader is used to describe the language.
    weak var witness: ShapeWitness?
    /// The mapping whose entries are read one by one.
    private var lastMapping: YAMLNode?

    init(_ source: BotSource, findings: Findings) {
        file = source.name
        self.findings = findings
        let document = YAMLDocument.read(source.bytes)
        self.source = document.source
        root = document.root
        isBroken = document.errors.contains { !$0.isWarning }
        findings.add(document.source, of: file)
        for error in document.errors {
            let spot = Spot(file: file, place: error.place)
            if error.isWarning {
                findings.warn(error.problem, at: spot, hint: error.hint, code: .unusedAnchor)
            } else {
                findings.error(error.problem, at: spot, hint: error.hint, code: .brokenYAML)
            }
        }
    }

    func read() -> BotFile {
        var result = BotFile(name: file)
        let start = Spot(file: file, place: .start)
        guard let root else {
            if findings.errorCount == 0 {
                findings.error("the file is empty", at: start, hint: "begin with \"version: 1\"")
            }
            return result
        }
        read(root, BotTables.file, into: &result)
        result.testRules = testRules
        result.testRoles = testRoles
        result.testChannels = testChannels
        result.testCounters = testCounters
        result.testModes = testModes
        result.testLadders = testLadders
        result.testPolicies = testPolicies
        result.prefixCommandsInTests()
        if result.version == nil, root.entries != nil, root["version"] == nil {
            findings.error(
                "\"version\" is missing", at: start, hint: "begin with \"version: 1\"", code: .missingKey)
        }
        return result
    }

    /// Reads a mapping by the table of its keys.
    func read<Target>(_ node: YAMLNode, _ table: KeyTable<Target>, into target: inout Target) {
        guard let entries = mapping(node, table.owner) else { return }
        if let witness { return witness.took(table, target, node) }
        if entries.isEmpty, table.isNeverEmpty {
            error("\(table.owner) has no keys", at: node, hint: "write what it asks for, or remove it")
        }
        for entry in entries { read(entry, table, into: &target) }
    }

    func read<Target>(_ entry: YAMLNode.Entry, _ table: KeyTable<Target>, into target: inout Target) {
        if let witness, let lastMapping { return witness.took(table, target, lastMapping) }
        guard let name = entry.key.text else { return }
        guard let key = table[name] else {
            error(
                "unknown \(table.noun) \"\(name)\"", at: entry.key, hint: table.hint(for: name),
                code: .unknownName)
            return
        }
        guard let read = key.read else {
            notBuilt(name, at: entry.key, hint: key.wayOut)
            return
        }
        read(entry.value, &target, self)
    }

    // MARK: Values

    func mapping(_ node: YAMLNode, _ what: String, hint: String? = nil) -> [YAMLNode.Entry]? {
        switch node.kind {
        case .mapping(let entries):
            lastMapping = node
            return entries
        case .unreadable: return nil
        case .sequence:
            error("\(what) is written as keys with values, not as a list", at: node, hint: hint)
        case .scalar(let text, _):
            if node.isEmpty {
                empty(node)
            } else {
                error(
                    "\(what) is written as keys with values, not as \"\(text.shortened)\"", at: node,
                    hint: hint)
            }
        }
        return nil
    }

    /// Text as it is written. `isProse`: people will read it, so a comment behind it is probably part of it.
    func text(_ node: YAMLNode, isProse: Bool = false) -> String? {
        switch node.kind {
        case .unreadable: return nil
        case .sequence: error("one text is expected here, not a list", at: node)
        case .mapping: error("text is expected here, not keys with values", at: node)
        case .scalar(let text, let style):
            if node.isEmpty {
                empty(node)
                return nil
            }
            if isProse, style == .plain, let comment = node.comment {
                findings.warn(
                    "\"\(comment.shortened)\" is a comment, not part of the text", at: behind(node),
                    hint: "put the whole text in quotes if it belongs to it", code: .commentAfterText)
            }
            witness?.tookText(node)
            return text
        }
        return nil
    }

    /// Whether a node is one of the words that say what cannot be written otherwise, such as `none`.
    func isWord(_ node: YAMLNode, _ word: String) -> Bool {
        if case .scalar = node.kind { witness?.took(word: word, node) }
        return node.text == word
    }

    func bool(_ node: YAMLNode) -> Bool? {
        guard let text = text(node) else { return nil }
        witness?.tookTruth(node)
        guard case .scalar(_, .plain) = node.kind, let value = Bool(text) else {
            let isWord = ["yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
            let why = isWord ? " (yes/no/on/off are text here)" : ""
            error("\"\(text.shortened)\" is not a true/false\(why)", at: node)
            return nil
        }
        return value
    }

    /// One of several words.
    func choice<Value: CaseIterable & RawRepresentable<String>>(
        _ node: YAMLNode, _ type: Value.Type = Value.self, _ what: String = "value", later: [String] = []
    ) -> Value? {
        guard let text = text(node) else { return nil }
        witness?.took(Value.allCases.map(\.rawValue), node)
        if let value = Value(rawValue: text) { return value }
        if later.contains(text) {
            notBuilt(text, at: node)
            return nil
        }
        let names = Value.allCases.map(\.rawValue)
        let hint =
            Suggestion.hint(for: text, among: names + later)
            ?? "use " + (names.count > 8 ? "a name from the manual" : names.joined(separator: ", "))
        error("unknown \(what) \"\(text.shortened)\"", at: node, hint: hint, code: .unknownName)
        return nil
    }

    /// One item or a list of them, at least one.
    func items(_ node: YAMLNode, _ what: String) -> [YAMLNode]? {
        switch node.kind {
        case .unreadable: return nil
        case .sequence(let items):
            if items.isEmpty { error("\"\(what)\" is an empty list", at: node, hint: "remove it or fill it") }
            return items
        case .mapping:
            error("\"\(what)\" is one text or a list, not keys with values", at: node)
            return nil
        case .scalar:
            if node.isEmpty {
                empty(node)
                return nil
            }
            return [node]
        }
    }

    /// Texts with their places, at least one. `mayBeBlank`: what is wrong with blanks is said elsewhere, or nothing is.
    func texts(_ node: YAMLNode, _ what: String, mayBeBlank: Bool = false) -> [Placed<String>]? {
        items(node, what)?.compactMap { item in
            guard let text = text(item) else { return nil }
            guard !text.isEmpty, mayBeBlank || !text.isBlank else {
                error("\"\(what)\" has an empty text", at: item, hint: "remove it or fill it")
                return nil
            }
            return Placed(text, at: spot(item))
        }
    }

    /// Text that says something.
    func filled(_ node: YAMLNode, isProse: Bool = false, hint: String = "fill it or remove the key")
        -> String?
    {
        guard let text = text(node, isProse: isProse) else { return nil }
        guard text.isBlank else { return text }
        error("this text is empty", at: node, hint: hint)
        return nil
    }

    /// Reads a short form; what it throws is noted at the node.
    func short<Value>(_ node: YAMLNode, _ read: (String) throws(ShortFormError) -> Value) -> Value? {
        guard let text = text(node) else { return nil }
        do throws(ShortFormError) {
            return try read(text)
        } catch {
            note(error, at: spot(node))
            return nil
        }
    }

    /// A text with values. `mayBeEmpty`: it may come to nothing although nothing in it is a value.
    func template(
        _ node: YAMLNode, mayBeEmpty: Bool = false, hint: String = "say something, or remove it"
    ) -> Template? {
        guard let text = mayBeEmpty ? text(node, isProse: true) : filled(node, isProse: true, hint: hint)
        else { return nil }
        let template = Template(text, spot: spot(node), shift: shift(node))
        for error in template.errors {
            findings.error(error.problem, at: spot(node, offset: error.offset), hint: error.hint)
        }
        return template
    }

    // MARK: Noting mistakes

    func spot(_ node: YAMLNode) -> Spot { Spot(file: file, place: node.place) }

    /// The place of a character of a text; the text's own where it cannot be told.
    func spot(_ node: YAMLNode, offset: Int) -> Spot {
        var spot = spot(node)
        if let shift = shift(node) { spot.place.column += shift + offset }
        return spot
    }

    /// How many columns behind its node a text begins, if it stands in the file letter by letter.
    private func shift(_ node: YAMLNode) -> Int? {
        guard case .scalar(let text, let style) = node.kind, node.place.line == node.end.line else {
            return nil
        }
        let quotes = style == .plain ? 0 : 1
        return node.end.column - node.place.column == text.unicodeScalars.count + 2 * quotes ? quotes : nil
    }

    func error(
        _ problem: String, at node: YAMLNode, hint: String? = nil, code: FindingCode = .wrongValue
    ) {
        findings.error(problem, at: spot(node), hint: hint, code: code)
    }

    /// A short form may have several mistakes.
    func note(_ error: ShortFormError, at spot: Spot) {
        for error in [error] + error.others { findings.error(error.problem, at: spot, hint: error.hint) }
    }

    func notBuilt(_ name: String, at node: YAMLNode, hint: String? = nil) {
        error("\"\(name)\" is not built yet", at: node, hint: hint, code: .notBuilt)
    }

    private func empty(_ node: YAMLNode) {
        let comment = node.comment.flatMap {
            $0.dropFirst().first.map { !$0.isWhitespace } == true ? $0 : nil
        }
        findings.error(
            "value is empty", at: node.comment == nil ? spot(node) : behind(node),
            hint: comment.map { "did you mean \"\($0)\" in quotes?" })
    }

    /// Where the comment behind a node begins.
    private func behind(_ node: YAMLNode) -> Spot {
        var place = node.end
        let line = source.lines.indices.contains(place.line - 1) ? source.lines[place.line - 1] : []
        while place.column <= line.count, line[place.column - 1] != "#" { place.column += 1 }
        return Spot(file: file, place: place)
    }
}

/// A bot's file before it is read.
package struct BotSource: Sendable {
    /// As errors show it, such as `bots/02-faq.yaml`.
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

extension String {
    /// The text, or its beginning if it is long; on one line.
    var shortened: String { shortened(to: 60) }

    func shortened(to count: Int) -> String {
        let line = String(map { $0.isNewline ? " " : $0 })
        return line.count > count ? line.prefix(count - 1) + "…" : line
    }
}
