internal import Chat
internal import Rules
internal import Services
internal import YAML

/// Reads a YAML tree into any `Decodable` type, so that settings of services and plugins are plain Swift values.
///
/// It goes on after a mistake with a stand-in value, so that all mistakes of a file show at once. Keys that the type did
/// not ask for are mistakes, too. Text stays text: `no` is a word where a word is wanted and a mistake where true or
/// false is wanted.
struct NodeDecoder: Decoder {
    let node: YAMLNode
    let findings: Findings
    let codingPath: [any CodingKey] = []
    /// Types that may be one text or a mapping cannot try both: each mistake is noted.
    var userInfo: [CodingUserInfoKey: Any] { CodingUserInfoKey.isText.map { [$0: node.text != nil] } ?? [:] }
    /// Which keys of this node were asked for; shared by all containers made from this decoder.
    let asked = Asked()

    /// What was found while reading one file. Used by one reader only.
    final class Findings {
        var errors: [ConfigError.Mistake] = []
        /// References that lead nowhere, for who does not need what they stand for.
        var unread: [ConfigError.Mistake] = []
        private let mayBeUnread: Bool
        private var missed: [YAMLPlace] = []
        /// Resolves `${env:NAME}` and its kin in a text.
        let resolve: (String) throws(SecretError) -> String
        /// Where relative paths begin.
        let folder: String

        init(
            folder: String, mayBeUnread: Bool = false,
            resolve: @escaping (String) throws(SecretError) -> String
        ) {
            self.folder = folder
            self.mayBeUnread = mayBeUnread
            self.resolve = resolve
        }

        /// Goes on in the place of what could not be read; long enough for a secret.
        static let unreadText = "this could not be read"

        /// A reference that leads nowhere.
        func miss(_ error: SecretError, at place: YAMLPlace) {
            guard !missed.contains(place) else { return }
            missed.append(place)
            let mistake = ConfigError.Mistake(place: place, problem: error.problem, hint: error.hint)
            if mayBeUnread { unread.append(mistake) } else { errors.append(mistake) }
        }

        /// A line with a secret in it is not shown.
        func add(_ problem: String, at place: YAMLPlace, hint: String? = nil, isSecret: Bool = false) {
            // What stands in for it is not looked at.
            guard !missed.contains(place) else { return }
            errors.append(
                ConfigError.Mistake(place: place, problem: problem, hint: hint, isSecret: isSecret))
        }
    }

    final class Asked {
        var keys: Set<String> = []
        var takesAny = false
    }

    /// Reads a value; what it returns is of use only if nothing was added to the findings.
    static func read<Value: Decodable>(_ type: Value.Type, from node: YAMLNode, findings: Findings) -> Value?
    {
        let decoder = NodeDecoder(node: node, findings: findings)
        do {
            return try decoder.value(of: type)
        } catch is Given {
            // There is nothing to go on with: it is needed after all.
            if findings.errors.isEmpty { findings.errors = findings.unread }
            return nil
        } catch {
            findings.add(words(for: error), at: node.place)
            return nil
        }
    }

    /// Thrown where no stand-in can be made; the mistake is among the findings already.
    struct Given: Error {}

    func value<Value: Decodable>(of type: Value.Type) throws -> Value {
        if type == Duration.self {
            guard let text = node.text, let duration = try? Duration(text: text) else {
                if !node.isUnreadable {
                    findings.add("\(shown) is not a duration", at: node.place, hint: "try \"10m\"")
                }
                return try standIn(Duration.zero)
            }
            return try standIn(duration)
        }
        if type == SettingsPath.self { return try standIn(path()) }
        if type == SettingsCommand.self { return try standIn(command()) }
        if type == Secret.self, let text = node.text, !text.isEmpty, !Secrets.isReference(text) {
            findings.add(
                "a secret must not stand in the configuration", at: node.place,
                hint:
                    "put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}",
                isSecret: true)
        }
        if let standIn = try checkWord(type) { return standIn }
        let result: Value
        do {
            result = try Value(from: self)
        } catch {
            let standIn = (type as? any StandIn.Type)?.standIn as? Value
            if !(error is Given) {
                // A type with rules of its own says what is wrong in its own words.
                findings.add(Self.words(for: error), at: node.place)
                if standIn != nil { reportUnknownKeys() }
            }
            guard let standIn else { throw Given() }
            return standIn
        }
        reportUnknownKeys()
        return result
    }

    private func standIn<Value>(_ value: some Any) throws -> Value {
        guard let value = value as? Value else { throw Given() }
        return value
    }

    /// A value that is one of a few words; gives one of them where it could not be read.
    private func checkWord<Value>(_ type: Value.Type) throws -> Value? {
        guard let words = (type as? any CaseIterable.Type)?.words, !words.isEmpty, !node.isUnreadable else {
            return nil
        }
        do {
            if let text = try node.text.map(findings.resolve), words.contains(text) { return nil }
        } catch {
            findings.miss(error, at: node.place)
            return (type as? any CaseIterable.Type)?.anyCase as? Value
        }
        let all = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        let near = node.text.flatMap { Suggestion.nearest(to: $0, among: words) }
        findings.add(
            "\(shown) is not known here", at: node.place,
            hint: near.map { "did you mean \"\($0)\"? It is \(all)" } ?? "use \(all)")
        throw Given()
    }

    private func path() throws -> SettingsPath {
        let text = try NodeScalar(decoder: self).decode(String.self)
        return SettingsPath(text.isEmpty ? text : absolute(text))
    }

    private func command() throws -> SettingsCommand {
        if node.text != nil {
            return SettingsCommand(shell: try NodeScalar(decoder: self).decode(String.self))
        }
        var words = try [String](from: self)
        if let program = words.first, program.contains("/") { words[0] = absolute(program) }
        return SettingsCommand(words: words)
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(findings.folder)/\(path)"
    }

    private static func words(for error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .dataCorrupted(let context): return context.debugDescription
        case .keyNotFound(let key, _): return "\"\(key.stringValue)\" is missing"
        default: return "this is not of the kind that is wanted here"
        }
    }

    private func reportUnknownKeys() {
        guard !asked.takesAny, case .mapping(let entries) = node.kind else { return }
        for entry in entries {
            guard let key = entry.key.text, !asked.keys.contains(key) else { continue }
            let near = Suggestion.nearest(to: key, among: asked.keys.sorted())
            findings.add(
                "unknown key \"\(key)\"", at: entry.key.place,
                hint: near.map { "did you mean \"\($0)\"?" }
                    ?? "known here: \(asked.keys.sorted().joined(separator: ", "))")
        }
    }

    /// The text as written, never what a reference in it stands for.
    var shown: String {
        switch node.kind {
        case .scalar(let text, _): text.isEmpty ? "an empty value" : "\"\(text)\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .unreadable: "this"
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if case .mapping = node.kind {
        } else if !node.isUnreadable {
            let keys = (type as? any CaseIterable.Type)?.words ?? []
            findings.add(
                "\(shown) is not a mapping", at: node.place,
                hint: keys.isEmpty
                    ? "write \"key: value\" lines"
                    : "write \"key: value\" lines; known here: \(keys.joined(separator: ", "))")
            throw Given()
        }
        return KeyedDecodingContainer(NodeKeys(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .sequence(let items) = node.kind else {
            findings.add("\(shown) is not a list", at: node.place, hint: "write [one, two]")
            throw Given()
        }
        return NodeItems(decoder: self, items: items)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { NodeScalar(decoder: self) }

    func at(_ node: YAMLNode) -> NodeDecoder { NodeDecoder(node: node, findings: findings) }
}

extension CaseIterable {
    fileprivate static var anyCase: Any? { allCases.first }

    /// The words that stand for the cases; none where they are no words.
    static var words: [String] {
        allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
    }
}
