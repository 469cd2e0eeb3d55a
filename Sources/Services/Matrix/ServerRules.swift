internal import JSON

/// Which servers a room keeps out. Source: client-server specification, `m.room.server_acl`.
struct ServerRules {
    private(set) var content: JSONObject

    /// Of a room that has none: everybody may come.
    init(_ content: JSONObject?) {
        self.content = content ?? ["allow": ["*"], "deny": []]
        // Without it nobody may, us included.
        if self.content["allow"]?.array == nil { self.content["allow"] = ["*"] }
    }

    private var denied: [String] { content["deny"]?.array?.compactMap(\.string) ?? [] }

    /// False when nothing has to be written. What would keep `own` out is left away: there is no way back from that.
    mutating func deny(_ servers: [String], own: String) -> Bool {
        let before = denied
        let more = servers.filter { !before.contains($0) && !Self.matches($0, own) }
        guard !more.isEmpty else { return false }
        content["deny"] = .array((before + more).map { .string($0) })
        return true
    }

    /// False when nothing has to be written.
    mutating func admit(_ servers: [String]) -> Bool {
        let before = denied
        let rest = before.filter { !servers.contains($0) }
        guard rest.count < before.count else { return false }
        content["deny"] = .array(rest.map { .string($0) })
        return true
    }

    /// `*` stands for any text, `?` for one character; capitals make no difference.
    static func matches(_ pattern: String, _ server: String) -> Bool {
        let pattern = Array(pattern.lowercased().utf8)
        // A port is no part of what is compared.
        let name = Array(server.lowercased().utf8)
        let port = name.lastIndex(of: UInt8(ascii: ":"))
        let isPort = port.map { name[($0 + 1)...].allSatisfy { (48...57).contains($0) } } ?? false
        let text = isPort ? Array(name[..<(port ?? name.endIndex)]) : name
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
