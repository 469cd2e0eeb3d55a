internal import Chat

/// The channels that a rule looks at.
struct Scope: Sendable, Hashable {
    /// Empty for every channel.
    var names: Set<String>
    var notNames: Set<String>

    static let direct = "direct"

    func contains(_ channel: Channel?, account: String, _ directory: Directory) -> Bool {
        guard let channel else { return names.isEmpty }
        let all = directory.names(of: channel, account: account)
        let isIn = names.isEmpty || names.contains { Self.matches($0, all, channel) }
        return isIn && !notNames.contains { Self.matches($0, all, channel) }
    }

    private static func matches(_ name: String, _ names: [String], _ channel: Channel) -> Bool {
        if name == direct { return channel.isDirect }
        guard name.contains("*") else { return names.contains(name) }
        return names.contains { matches(glob: Array(name), Array($0)) }
    }

    static func matches(glob: [Character], _ name: [Character]) -> Bool {
        var (g, n) = (0, 0)
        var star: (g: Int, n: Int)?
        while n < name.count {
            if g < glob.count, glob[g] == "*" {
                star = (g, n)
                g += 1
            } else if g < glob.count, glob[g] == name[n] {
                g += 1
                n += 1
            } else if let last = star {
                star = (last.g, last.n + 1)
                (g, n) = (last.g + 1, last.n + 1)
            } else {
                return false
            }
        }
        return glob[g...].allSatisfy { $0 == "*" }
    }
}
