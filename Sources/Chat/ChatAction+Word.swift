extension ChatAction {
    /// What the service is asked to do, as rules call it.
    package var plainWord: String {
        switch verb {
        case .send: "send"
        case .reply: "reply"
        case .direct: "dm"
        case .editMessage: "edit"
        case .deleteMessage: "delete"
        case .react: "react"
        case .addMember: "add"
        case .removeMember: "kick"
        case .mute: "mute"
        case .unmute: "unmute"
        case .ban: "ban"
        case .unban: "unban"
        case .slowMode: "slowmode"
        case .lock: "lock"
        case .unlock: "unlock"
        case .createChannel: "create"
        case .destroyChannel: "destroy"
        case .joinChannel: "join"
        case .leaveChannel: "leave"
        case .typing: "typing"
        case .advanceReadHorizon: "read"
        case .setChannelTitle: "title"
        case .setChannelTopic: "topic"
        case .denyServers, .admitServers: "acl"
        case .setChannelAttributes, .setMessageAttributes, .setMemberAttributes: "set"
        }
    }
}
