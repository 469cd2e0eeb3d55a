internal import YAML

/// Learns what the reader takes by offering it a text, a list and a mapping for each key, and watching which of its
/// questions fit. So nothing has to be said twice, and nothing said here can be wrong.
final class ShapeWitness {
    private enum Note {
        case text, truth, words([String]), word(String)
        case table(name: String, isOneKey: Bool, oneOf: [String])
    }

    private(set) var tables: [LanguageReference.Table] = []
    private var names: [String: [String]] = [:]
    private var built: [String: Bool] = [:]
    private var notes: [YAMLPlace: [Note]] = [:]
    private var nextLine = 1
    private lazy var reader: BotFileReader = {
        let reader = BotFileReader(BotSource(name: "", bytes: []), findings: Findings())
        reader.witness = self
        return reader
    }()

    // MARK: What the reader tells

    func tookText(_ node: YAMLNode) { note(.text, node) }
    func tookTruth(_ node: YAMLNode) { note(.truth, node) }
    func took(_ words: [String], _ node: YAMLNode) { note(.words(words), node) }
    func took(word: String, _ node: YAMLNode) { note(.word(word), node) }

    /// The node is read by a table; `target` is what the reader would fill.
    func took<Target>(
        _ table: KeyTable<Target>, _ target: Target, _ node: YAMLNode, isOneKey: Bool = false,
        oneOf: [String] = []
    ) {
        note(.table(name: describe(table, from: target), isOneKey: isOneKey, oneOf: oneOf), node)
    }

    private func note(_ note: Note, _ node: YAMLNode) { notes[node.place, default: []].append(note) }

    // MARK: Offering

    /// Its name; each table is described once.
    @discardableResult
    func describe<Target>(_ table: KeyTable<Target>, from target: Target) -> String {
        let keys = table.keys.filter { $0.read != nil }
        var name = table.owner
        for article in ["a bot's ", "a ", "an "] where name.hasPrefix(article) {
            name.removeFirst(article.count)
            break
        }
        name = name.replacing(" ", with: "-")
        // Two tables may go by one name; then the keys tell them apart.
        while let known = names[name] {
            if known == table.names { return name }
            name += "-2"
        }
        names[name] = table.names
        built[name] = !keys.isEmpty
        let index = tables.count
        tables.append(.init(name: name, owner: table.owner, keys: [], required: table.required))
        tables[index].keys = keys.map { key in
            let shape = explore { node in
                var copy = target
                key.read?(node, &copy, self.reader)
            }
            return .init(name: key.name, about: key.about, takes: shape)
        }
        return name
    }

    private func explore(depth: Int = 0, _ offer: (YAMLNode) -> Void) -> ValueShape {
        var shape = ValueShape()
        let text = scalar()
        offer(text)
        shape.scalar = scalar(of: notes[text.place] ?? [])
        guard depth < 5 else { return shape }

        let mapping = node(.mapping([]))
        let value = scalar()
        offer(with(mapping, .mapping([.init(key: scalar(), value: value)])))
        for case .table(let name, let isOneKey, let oneOf) in notes[mapping.place] ?? [] {
            // Nothing can be written yet where no key of the table is built.
            guard built[name] == true else { continue }
            shape.table = name
            shape.isOneKey = isOneKey
            shape.oneOf = oneOf
        }
        if shape.table == nil {
            let inner = explore(depth: depth + 1) { inner in
                offer(self.node(.mapping([.init(key: self.scalar(), value: inner)])))
            }
            if !inner.isNothing { shape.entries = [inner] }
        }
        let inner = explore(depth: depth + 1) { inner in offer(self.node(.sequence([inner]))) }
        if !inner.isNothing { shape.items = [inner] }
        return shape
    }

    private func scalar(of notes: [Note]) -> ValueShape.Scalar? {
        var words: [String] = []
        var others: [String] = []
        var isTruth = false
        var isText = false
        for note in notes {
            switch note {
            case .words(let some): words += some.filter { !words.contains($0) }
            case .word(let word): others.append(word)
            case .truth: isTruth = true
            case .text: isText = true
            case .table: break
            }
        }
        if !words.isEmpty { return .words(others + words) }
        return isTruth ? .truth : isText ? .text : others.isEmpty ? nil : .words(others)
    }

    private func scalar() -> YAMLNode { node(.scalar("word", .plain)) }

    private func node(_ kind: YAMLNode.Kind) -> YAMLNode {
        defer { nextLine += 1 }
        let place = YAMLPlace(line: nextLine, column: 1)
        return YAMLNode(kind, at: place, to: place)
    }

    private func with(_ node: YAMLNode, _ kind: YAMLNode.Kind) -> YAMLNode {
        var node = node
        node.kind = kind
        return node
    }
}
