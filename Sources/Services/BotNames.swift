/// Who is a program, by the account's settings: Twilio itself tells nobody from one.
struct BotNames: Sendable {
    private var identities: Set<String> = []
    /// Pieces between the stars.
    private var patterns: [[Substring]] = []
    private var roles: Set<String> = []

    /// Identities, with `*` for any text, and role SIDs.
    init(_ names: [String] = []) {
        for name in names {
            if name.contains("*") {
                patterns.append(name.split(separator: "*", omittingEmptySubsequences: false))
            } else if name.count == 34, name.hasPrefix("RL") {
                roles.insert(name)
            } else {
                identities.insert(name)
            }
        }
    }

    func contains(_ identity: String, role: String? = nil) -> Bool {
        identities.contains(identity) || role.map(roles.contains) ?? false
            || patterns.contains { Self.matches(identity, $0) }
    }

    private static func matches(_ text: String, _ pieces: [Substring]) -> Bool {
        guard let first = pieces.first, let last = pieces.last, text.hasPrefix(first) else { return false }
        var rest = text.dropFirst(first.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let found = rest.firstRange(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
