internal import YAML

/// A key of a mapping in a bot's file: its name, what it means, and how its value is read.
struct Key<Target>: Sendable {
    typealias Read = @Sendable (YAMLNode, inout Target, BotFileReader) -> Void

    let name: String
    /// One line for the manual and for editors.
    let about: String
    /// Nil for what the language has but steward has not built yet.
    let read: Read?

    /// What can be done without a key that is not built yet.
    var wayOut: String? { read == nil && !about.isEmpty ? about : nil }

    init(_ name: String, _ about: String, read: @escaping Read) {
        self.name = name
        self.about = about
        self.read = read
    }

    private init(later name: String, _ wayOut: String) {
        self.name = name
        about = wayOut
        read = nil
    }

    /// A key that the language has and steward has not built yet, and what can be done without it.
    static func later(_ name: String, _ wayOut: String = "") -> Key { Key(later: name, wayOut) }
}

/// The keys that a mapping may have. Everything that reads, describes or completes bots' files comes from these
/// tables.
struct KeyTable<Target>: Sendable {
    /// What the mapping is, such as `a rule`.
    let owner: String
    /// What its keys are called in errors: `key`, `action`.
    let noun: String
    let keys: [Key<Target>]
    /// What people write instead, and the key they mean.
    let otherNames: [String: String]
    /// Keys without which nothing can be read.
    let required: [String]
    /// Keys that belong one level deeper, below which key.
    let deeper: [String: String]
    /// Whether a mapping without any key is a mistake: what asks for nothing would be true of everybody.
    let isNeverEmpty: Bool
    private let byName: [String: Key<Target>]

    init(
        _ owner: String, noun: String = "key", otherNames: [String: String] = [:], required: [String] = [],
        deeper: [String: String] = [:], isNeverEmpty: Bool = false, _ keys: [Key<Target>]
    ) {
        self.owner = owner
        self.noun = noun
        self.keys = keys
        self.otherNames = otherNames
        self.required = required
        self.deeper = deeper
        self.isNeverEmpty = isNeverEmpty
        byName = Dictionary(keys.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(name: String) -> Key<Target>? { byName[name] }

    var names: [String] { keys.map(\.name) }

    /// What helps someone who wrote an unknown name.
    func hint(for written: String, without others: Set<String> = []) -> String {
        if let parent = deeper[written] {
            return "it belongs below \"\(parent)\": write \(parent): {\(written): …}"
        }
        let names = names.filter { !others.contains($0) }
        if let meant = otherNames[written] ?? Suggestion.nearest(to: written, among: names) {
            return "did you mean \"\(meant)\"?"
        }
        let built = keys.filter { $0.read != nil && !others.contains($0.name) }.map(\.name)
        return "known here: " + built.joined(separator: ", ")
    }
}
