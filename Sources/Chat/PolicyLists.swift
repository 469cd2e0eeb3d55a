/// The ban lists that accounts read, as they are now: services keep them, rules ask them.
public final class PolicyLists: Sendable {
    private struct List: Sendable {
        var all: [Policy] = []
        var exact: [Policy.Subject: [String: Policy]] = [:]
        var patterns: [Policy.Subject: [(pattern: [UInt8], policy: Policy)]] = [:]

        init(_ policies: [Policy]) {
            all = policies
            for policy in policies {
                if policy.isExact {
                    // The first that was there is the one that is told.
                    if exact[policy.subject]?[policy.entity] == nil {
                        exact[policy.subject, default: [:]][policy.entity] = policy
                    }
                } else {
                    patterns[policy.subject, default: []].append((Array(policy.entity.utf8), policy))
                }
            }
        }

        func match(_ subject: Policy.Subject, _ name: String) -> Policy? {
            if let policy = exact[subject]?[name] { return policy }
            guard let patterns = patterns[subject] else { return nil }
            let name = Array(name.utf8)
            return patterns.first { Pattern.matches($0.pattern, name) }?.policy
        }
    }

    private let lists = Locked<[String: List]>([:])

    /// Nothing is in any list yet.
    public init() {}

    /// Puts what a list holds now in place of what it held.
    public func set(_ policies: [Policy], of list: String) {
        let read = List(policies)
        lists.withLock { $0[list] = read }
    }

    /// All that a list holds, in its order.
    public func policies(of list: String) -> [Policy] { lists.withLock { $0[list]?.all ?? [] } }

    /// The first entry of these lists that is about a user: by the id, or by the server that is named in it.
    public func match(user id: String, in names: [String]) -> Policy? {
        let lists = lists.withLock { lists in names.compactMap { lists[$0] } }
        let server = id.firstIndex(of: ":").map { id[id.index(after: $0)...] }
        for list in lists {
            if let policy = list.match(.user, id) { return policy }
            // A port is no part of a server's name here.
            if let server, let policy = list.match(.server, Self.bare(server)) { return policy }
        }
        return nil
    }

    private static func bare(_ server: Substring) -> String {
        let port = server.lastIndex(of: ":").map { server[server.index(after: $0)...] }
        guard let port, !port.isEmpty, port.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return server.lowercased()
        }
        return server.dropLast(port.count + 1).lowercased()
    }

    /// `*` and `?`, in time that grows with the product of both lengths at worst.
    enum Pattern {
        static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
            var (p, t) = (0, 0)
            var star: (pattern: Int, text: Int)?
            while t < text.count {
                if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
                    star = (p, t)
                    p += 1
                } else if p < pattern.count, pattern[p] == UInt8(ascii: "?") || pattern[p] == text[t] {
                    p += 1
                    t += 1
                } else if let last = star {
                    p = last.pattern + 1
                    t = last.text + 1
                    star = (last.pattern, t)
                } else {
                    return false
                }
            }
            return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
        }
    }
}
