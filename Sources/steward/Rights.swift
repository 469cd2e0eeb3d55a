internal import Chat
internal import Rules
internal import Services

/// Whether the accounts may do in their channels what rules ask of them.
struct Rights: Sendable {
    /// Something that a rule wants and an account may not do, as far as its service says.
    struct Lack: Equatable {
        var rule: String
        /// What the rule does, and what the account would have to be allowed to.
        var action: String
        var right: String
        var account: String
        var channel: String
        var roles: [String]
        /// What it takes there, where the service says so.
        var needed: String?
        /// Steward does it in another way: it mutes by deleting.
        var isMadeUpFor = false

        var text: String {
            if isMadeUpFor {
                let own = roles.isEmpty ? "none" : roles.joined(separator: ", ")
                let why = needed.map { "\(action) needs \($0) there, \(account) has \(own)" }
                return
                    "rule \"\(rule)\" mutes in \(channel) by deleting what is written: "
                    + (why ?? "\(account) may not \(action) there")
            }
            let what = action == right ? action : "\(action) (\(right))"
            if let needed {
                let own = roles.isEmpty ? "none" : roles.joined(separator: ", ")
                return
                    "rule \"\(rule)\" cannot \(what) in \(channel): it needs \(needed), \(account) has \(own)"
                    + " - give it that in the room's settings"
            }
            let role = roles.isEmpty ? "no role that is known" : "the role \(roles.joined(separator: ", "))"
            return "rule \"\(rule)\" cannot \(what) in \(channel): \(account) has \(role)"
        }
    }

    /// By account.
    var channels: [String: [ChannelRights]] = [:]

    /// Each rule, channel and action once.
    func lacks(_ reaches: [RuleReach], _ directory: Directory) -> [Lack] {
        channels.sorted { $0.key < $1.key }.flatMap { account, channels in
            channels.flatMap { rights in
                reaches.filter { $0.contains(rights.channel, account: account) }.flatMap { reach in
                    lacks(of: reach, account, rights, directory)
                }
            }
        }
    }

    private func lacks(
        of reach: RuleReach, _ account: String, _ rights: ChannelRights, _ directory: Directory
    ) -> [Lack] {
        guard let abilities = directory.accounts[account]?.abilities else { return [] }
        return reach.actions.sorted().compactMap { action in
            guard let right = abilities.right(for: action), rights.denied.contains(right) else { return nil }
            let isMadeUpFor = ["mute", "unmute"].contains(right) && !rights.denied.contains("delete")
            // What it deletes itself it stops deleting itself.
            if isMadeUpFor, right == "unmute" { return nil }
            return Lack(
                rule: reach.rule, action: action, right: right, account: account,
                channel: Self.name(rights.channel), roles: rights.roles, needed: rights.needed[right],
                isMadeUpFor: isMadeUpFor)
        }
    }

    /// Channels in which an account can do nothing, a line each.
    var problems: [String] {
        channels.sorted { $0.key < $1.key }.flatMap { account, channels in
            channels.compactMap { rights in
                rights.problem.map { "account \"\(account)\": \(Self.name(rights.channel)) \($0)" }
            }
        }
    }

    /// A table of accounts and channels: what each may do there.
    var table: String {
        var rows: [[String]] = [["account", "channel", "role"] + Self.asked]
        for (account, channels) in channels.sorted(by: { $0.key < $1.key }) {
            for rights in channels where rights.problem == nil {
                let marks = Self.asked.map { action in
                    rights.allowed.contains(action) ? "yes" : rights.denied.contains(action) ? "no" : "?"
                }
                rows.append(
                    [account, Self.name(rights.channel), rights.roles.joined(separator: ", ")] + marks)
            }
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    private static let asked = ["delete", "kick", "react"]

    private static func name(_ channel: Channel) -> String {
        if channel.isDirect {
            return "direct with \(channel.title.isEmpty ? channel.id.text : channel.title)"
        }
        return channel.uniqueName ?? (channel.title.isEmpty ? channel.id.text : channel.title)
    }
}
