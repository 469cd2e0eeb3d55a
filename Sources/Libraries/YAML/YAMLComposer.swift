internal import CYAML

/// Builds a tree from libyaml's events.
struct YAMLComposer {
    struct Composition {
        var root: YAMLNode?
        var errors: [YAMLError]
        /// Where libyaml gave up; then there is no tree.
        var failure: YAMLFailure?
    }

    static func compose(_ bytes: [UInt8], _ source: YAMLSource, unreadable: Set<YAMLPlace>) -> Composition {
        var composer = YAMLComposer(source: source, unreadable: unreadable)
        do throws(YAMLFailure) {
            let root = try composer.document(bytes)
            return Composition(root: root, errors: composer.errors + composer.unusedAnchors)
        } catch {
            return Composition(root: nil, errors: [], failure: error)
        }
    }

    private let source: YAMLSource
    private let unreadable: Set<YAMLPlace>
    private var errors: [YAMLError] = []
    private var anchors: [String: Anchor] = [:]
    private var expanded = 0

    private struct Anchor {
        var tree: Tree
        var place: YAMLPlace
        var isUsed = false
    }

    /// A node with what an alias to it would cost.
    private struct Tree {
        var node: YAMLNode
        var count = 1
        var depth = 1
    }

    private init(source: YAMLSource, unreadable: Set<YAMLPlace>) {
        self.source = source
        self.unreadable = unreadable
    }

    private mutating func document(_ bytes: [UInt8]) throws(YAMLFailure) -> YAMLNode? {
        let events = YAMLEvents(bytes)
        var root: YAMLNode?
        var documents = 0
        while true {
            let event = try events.next()
            switch event.kind {
            case .streamEnd: return root
            case .documentStart:
                documents += 1
                if documents == 2 {
                    let problem = "a second document begins here; a file holds one"
                    errors.append(YAMLError(at: event.place, problem, hint: "remove the \"---\""))
                }
                let tree = try self.tree(try events.next(), events, depth: 1)
                if documents == 1 { root = tree.node }
            default: continue
            }
        }
    }

    private mutating func tree(_ event: YAMLEvent, _ events: borrowing YAMLEvents, depth: Int)
        throws(YAMLFailure) -> Tree
    {
        guard depth <= YAMLDocument.maximumDepth else {
            throw YAMLFailure(
                problem: "nested deeper than \(YAMLDocument.maximumDepth) levels", place: event.place)
        }
        var tree: Tree
        switch event.kind {
        case .alias(let name): return alias(name, event, depth)
        case .scalar(let text, let style): tree = Tree(node: scalar(text, style, event))
        case .sequenceStart: tree = try sequence(event, events, depth)
        case .mappingStart: tree = try mapping(event, events, depth)
        case .streamEnd, .documentStart, .other:
            throw YAMLFailure(problem: "the file ends too early", place: event.place)
        }
        if let tag = event.tag { refuse(tag, of: &tree.node, event) }
        if let anchor = event.anchor { anchors[anchor] = Anchor(tree: tree, place: event.place) }
        return tree
    }

    private mutating func scalar(_ text: String, _ style: YAMLNode.Style, _ event: YAMLEvent) -> YAMLNode {
        if unreadable.contains(event.place) { return YAMLNode(.unreadable, at: event.place, to: event.end) }
        if let error = Self.trap(in: text, style, at: event.place) {
            errors.append(error)
            return YAMLNode(.unreadable, at: event.place, to: event.end)
        }
        let mayHaveComment = style == .plain || style == .single || style == .double
        return YAMLNode(
            .scalar(text, style), at: event.place, to: event.end,
            comment: mayHaveComment ? comment(behind: event.end) : nil)
    }

    /// What YAML takes and nobody means.
    private static func trap(in text: String, _ style: YAMLNode.Style, at place: YAMLPlace) -> YAMLError? {
        guard style == .double,
            let control = text.unicodeScalars.first(where: {
                $0.value < 32 && !"\t\n\r".unicodeScalars.contains($0)
            })
        else { return nil }
        let written = [0: "\\0", 7: "\\a", 8: "\\b", 11: "\\v", 12: "\\f", 27: "\\e"][control.value] ?? "\\x"
        let name = control.value == 8 ? "a backspace" : "a control character"
        return YAMLError(
            at: place, "\"\(written)\" is \(name) in double quotes",
            hint: "use single quotes, where \"\\\" is itself")
    }

    private mutating func sequence(_ start: YAMLEvent, _ events: borrowing YAMLEvents, _ depth: Int)
        throws(YAMLFailure) -> Tree
    {
        var items: [YAMLNode] = []
        var count = 1
        var deepest = 0
        while true {
            let event = try events.next()
            if case .other = event.kind {
                var node = YAMLNode(.sequence(items), at: start.place, to: event.end)
                node.isFlow = start.isFlow
                return Tree(node: node, count: count, depth: deepest + 1)
            }
            let tree = try self.tree(event, events, depth: depth + 1)
            items.append(tree.node)
            count += tree.count
            deepest = max(deepest, tree.depth)
        }
    }

    private mutating func mapping(_ start: YAMLEvent, _ events: borrowing YAMLEvents, _ depth: Int)
        throws(YAMLFailure) -> Tree
    {
        var entries: [YAMLNode.Entry] = []
        var first: [String: YAMLPlace] = [:]
        var count = 1
        var deepest = 0
        var isTemplate = false
        while true {
            let event = try events.next()
            if case .other = event.kind {
                let kind = isTemplate ? YAMLNode.Kind.unreadable : .mapping(entries)
                var node = YAMLNode(kind, at: start.place, to: event.end)
                node.isFlow = start.isFlow
                return Tree(node: node, count: count, depth: deepest + 1)
            }
            let key = try tree(event, events, depth: depth + 1)
            let value = try tree(try events.next(), events, depth: depth + 1)
            count += key.count + value.count
            deepest = max(deepest, key.depth, value.depth)
            switch key.node.kind {
            case .unreadable: isTemplate = isTemplate || start.isFlow
            case .sequence, .mapping:
                let problem = "a key must be plain text; if this is a template, put the whole value in quotes"
                errors.append(YAMLError(at: start.isFlow ? start.place : key.node.place, problem))
                isTemplate = true
            case .scalar(let name, let style):
                if style == .plain, name == "<<" {
                    let problem = "\"<<\" is not supported"
                    errors.append(
                        YAMLError(
                            at: key.node.place, problem,
                            hint: "write the keys out, or share values by lists, vars and groups"))
                } else if let earlier = first[name] {
                    let problem = "duplicate key \"\(name)\""
                    errors.append(
                        YAMLError(at: key.node.place, problem, hint: "it is at \(earlier) already"))
                    entries.append(YAMLNode.Entry(key: key.node, value: value.node))
                } else {
                    first[name] = key.node.place
                    entries.append(YAMLNode.Entry(key: key.node, value: value.node))
                }
            }
        }
    }

    private mutating func alias(_ name: String, _ event: YAMLEvent, _ depth: Int) -> Tree {
        let broken = Tree(node: YAMLNode(.unreadable, at: event.place, to: event.end))
        guard let anchor = anchors[name] else {
            let rest = source.value(at: event.place)
            let problem = "\"*\(name)\" refers to an anchor that is not in this file"
            errors.append(
                YAMLError(at: event.place, problem, hint: "did you mean \(quoted(rest)) in quotes?"))
            return broken
        }
        anchors[name]?.isUsed = true
        expanded += anchor.tree.count
        guard expanded <= YAMLDocument.maximumExpansion else {
            if expanded - anchor.tree.count <= YAMLDocument.maximumExpansion {
                let problem =
                    "the aliases of this file stand for more than \(YAMLDocument.maximumExpansion) nodes"
                errors.append(YAMLError(at: event.place, problem))
            }
            return broken
        }
        guard depth + anchor.tree.depth <= YAMLDocument.maximumDepth else {
            errors.append(
                YAMLError(at: event.place, "nested deeper than \(YAMLDocument.maximumDepth) levels"))
            return broken
        }
        var tree = anchor.tree
        tree.node.isAlias = true
        return tree
    }

    private mutating func refuse(_ tag: String, of node: inout YAMLNode, _ event: YAMLEvent) {
        let written = source.value(at: event.place)
        let hint = tag.hasPrefix("tag:") || tag == "!" ? nil : "did you mean \(quoted(written)) in quotes?"
        errors.append(
            YAMLError(
                at: event.place, "\"\(written)\" is a tag to YAML, and tags are not used here", hint: hint))
        node.kind = .unreadable
    }

    private var unusedAnchors: [YAMLError] {
        anchors.filter { !$0.value.isUsed }.map { name, anchor in
            let written = source.value(at: anchor.place)
            let problem = "\"&\(name)\" names an anchor that nothing refers to"
            return YAMLError(
                at: anchor.place, problem, hint: "did you mean \(quoted(written)) in quotes?", isWarning: true
            )
        }
    }

    private func comment(behind place: YAMLPlace) -> String? {
        guard source.lines.indices.contains(place.line - 1) else { return nil }
        let line = source.lines[place.line - 1].dropFirst(place.column - 1)
        let rest = line.drop { $0 == " " || $0 == "\t" }
        guard rest.first == "#", rest.startIndex > line.startIndex else { return nil }
        return String(String.UnicodeScalarView(rest))
    }
}

/// Text in double quotes; with single quotes where it has double ones.
func quoted(_ text: String) -> String {
    text.contains("\"") ? "'\(text)'" : "\"\(text)\""
}

extension YAMLSource {
    /// What stands at a place up to the end of the value, as far as one can tell without YAML's help.
    func value(at place: YAMLPlace) -> String {
        guard lines.indices.contains(place.line - 1) else { return "" }
        let line = lines[place.line - 1]
        let rest = line.dropFirst(place.column - 1)
        return String(String.UnicodeScalarView(rest.prefix(valueLength(line, from: place.column - 1))))
    }

    /// How long the value is that begins at an index of the line: in a flow collection up to the comma or bracket
    /// that ends it, elsewhere up to a comment or the end of the line. `isBracketed`: it is in one that may begin on a
    /// line above, and a comment in it is text.
    func valueLength(_ line: [Unicode.Scalar], from start: Int, isBracketed: Bool = false) -> Int {
        let isInFlow = isBracketed || !Self.openBrackets(line[..<min(start, line.count)]).isEmpty
        var depth = 0
        var index = start
        scanning: while index < line.count {
            switch line[index] {
            case "#" where !isBracketed && index > 0 && (line[index - 1] == " " || line[index - 1] == "\t"):
                break scanning
            case "," where isInFlow && depth == 0: break scanning
            case "[", "{": depth += 1
            case "]", "}":
                if isInFlow, depth == 0 { break scanning }
                depth -= 1
            default: break
            }
            index += 1
        }
        while index > start, line[index - 1] == " " || line[index - 1] == "\t" { index -= 1 }
        return index - start
    }

    /// The brackets that are open behind a piece of a line, and of lines before it; quotes respected.
    static func openBrackets(
        _ piece: ArraySlice<Unicode.Scalar>, of line: Int = 0, after earlier: [YAMLPlace] = []
    ) -> [YAMLPlace] {
        var open = earlier
        var quote: Unicode.Scalar?
        var previous: Unicode.Scalar = " "
        for (index, scalar) in zip(piece.indices, piece) {
            if let mark = quote {
                if scalar == mark, !(mark == "\"" && previous == "\\") { quote = nil }
            } else {
                switch scalar {
                case "\"", "'":
                    // Doubled, it stands for itself.
                    if " [{,".unicodeScalars.contains(previous) || (scalar == "'" && previous == "'") {
                        quote = scalar
                    }
                case "[", "{": open.append(YAMLPlace(line: line, column: index + 1))
                case "]", "}": _ = open.popLast()
                default: break
                }
            }
            previous = scalar
        }
        return open
    }
}
