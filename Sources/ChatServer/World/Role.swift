/// What somebody may do: one role everywhere, and one in each channel.
package enum Role: String, Sendable, CaseIterable {
    case serviceUser = "service user"
    case serviceAdmin = "service admin"
    case channelUser = "channel user"
    case channelAdmin = "channel admin"

    /// The same in every world, so that a configuration may name them.
    package var sid: SID {
        switch self {
        case .serviceUser: SID(.role, high: 0x5e51_1ce0_0000_0000, low: 0x0000_0000_0000_0001)
        case .serviceAdmin: SID(.role, high: 0x5e51_1ce0_0000_0000, low: 0x0000_0000_0000_00ad)
        case .channelUser: SID(.role, high: 0xc4a4_4e10_0000_0000, low: 0x0000_0000_0000_0001)
        case .channelAdmin: SID(.role, high: 0xc4a4_4e10_0000_0000, low: 0x0000_0000_0000_00ad)
        }
    }

    init?(sid: SID) {
        guard let role = Role.allCases.first(where: { $0.sid == sid }) else { return nil }
        self = role
    }

    var isOfChannel: Bool { self == .channelUser || self == .channelAdmin }

    var permissions: Set<Permission> {
        switch self {
        case .serviceUser: [.createConversation, .joinConversation, .editOwnUserInfo]
        case .channelUser:
            [
                .sendMessage, .sendMediaMessage, .editOwnMessage, .editOwnMessageAttributes,
                .deleteOwnMessage,
                .leaveConversation, .editOwnParticipantAttributes, .editNotificationLevel,
            ]
        case .channelAdmin:
            Role.channelUser.permissions.union([
                .addParticipant, .removeParticipant, .deleteAnyMessage, .deleteConversation, .editAnyMessage,
                .editAnyMessageAttributes, .editAnyParticipantAttributes, .editConversationAttributes,
                .editConversationName,
            ])
        case .serviceAdmin:
            Role.channelAdmin.permissions.union(Role.serviceUser.permissions).union([.editAnyUserInfo])
                // Talking is for members, whatever else somebody may do.
                .subtracting([.sendMessage, .sendMediaMessage, .leaveConversation])
        }
    }
}

/// One thing that a role allows.
package enum Permission: String, Sendable {
    case addParticipant, createConversation, deleteAnyMessage, deleteConversation, deleteOwnMessage
    case editAnyMessage, editAnyMessageAttributes, editAnyParticipantAttributes, editAnyUserInfo
    case editConversationAttributes, editConversationName, editNotificationLevel
    case editOwnMessage, editOwnMessageAttributes, editOwnParticipantAttributes, editOwnUserInfo
    case joinConversation, leaveConversation, removeParticipant, sendMediaMessage, sendMessage
}
