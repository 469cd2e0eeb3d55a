internal import Chat
internal import JSON

/// A participant as the roster has it.
struct RosterEntry {
    /// The participant's SID, `MB…`.
    var key: String
    var member: Member
    /// The Sync map with their name; nil when there is none.
    var profile: String?
    var roleSID: String?
    /// The last message they have read.
    var horizon: Int64?
    /// When the horizon was last moved.
    var horizonMoved: Timestamp?
    /// The Sync event that this is the state after.
    var version: Int64

    /// Whether anything but the horizon differs.
    func describesOther(than before: RosterEntry) -> Bool {
        roleSID != before.roleSID || member.attributes != before.member.attributes
            || member.user != before.member.user
    }
}

/// A message as its list has it.
struct ListedMessage {
    var message: Message
    var index: Int64
    var at: Timestamp
}

/// What a channel's document says.
struct ChannelDocument {
    var title: String
    var uniqueName: String?
    var attributes: String?
    /// When its last message was sent: the document changes with each.
    var lastMessage: Timestamp?
}

/// A change to a Sync object, ready to be applied when its turn comes.
enum SyncChange {
    case messageAdded(ListedMessage)
    case messageEdited(ListedMessage)
    case messageDeleted(ListedMessage)
    case memberAdded(RosterEntry, Timestamp)
    case memberUpdated(RosterEntry, Timestamp)
    case memberRemoved(RosterEntry, Timestamp)
    case document(ChannelDocument, Timestamp)
    /// Our own view of a channel; nil when it is no more ours.
    case standing(channel: String, Standing?, isNew: Bool, Timestamp)
    /// Somebody goes by another name, or by none.
    case called(String, String?)
    case nothing

    /// The participant it is about.
    var memberKey: String? {
        switch self {
        case .memberAdded(let entry, _), .memberUpdated(let entry, _), .memberRemoved(let entry, _): entry.key
        default: nil
        }
    }

    /// How we stand to a channel.
    enum Standing { case joined, invited, notParticipating }
}
