internal import Chat
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

    /// As an entry about that server in a ban list does.
    private static func matches(_ pattern: String, _ server: String) -> Bool {
        let list = PolicyLists()
        list.set([Policy(list: "", subject: .server, entity: pattern.lowercased())], of: "")
        return list.match(user: "@:\(server)", in: [""]) != nil
    }
}
