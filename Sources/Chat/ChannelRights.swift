/// What an account may do in a channel, as far as its service says so beforehand.
public struct ChannelRights: Sendable {
    /// The channel that it is about.
    public var channel: Channel
    /// Our own roles there, in the service's words.
    public var roles: [String]
    /// Actions by the names that rules use, such as `delete`. What is in neither is known when it is tried.
    public var allowed: Set<String>
    /// Actions that the service would refuse, by the same names.
    public var denied: Set<String>
    /// What denied actions need, in the service's words, such as `power 100`.
    public var needed: [String: String] = [:]
    /// Why the account can do nothing at all there, such as `cannot be joined: …`; nil where it can.
    public var problem: String?

    /// What is in neither `allowed` nor `denied` is known when it is tried.
    public init(channel: Channel, roles: [String], allowed: Set<String> = [], denied: Set<String> = []) {
        self.channel = channel
        self.roles = roles
        self.allowed = allowed
        self.denied = denied
    }
}

extension Abilities {
    /// What an account must be allowed to do so that an action of rules can be done, by the service or by steward in its
    /// place; nil for what everybody may.
    package func right(for action: String) -> String? {
        switch action {
        case "delete", "kick", "react": action
        case "mute", "unmute", "slowmode", "lock", "unlock": actions.contains(action) ? action : "delete"
        case "ban": actions.contains(action) ? action : "kick"
        default: nil
        }
    }
}
