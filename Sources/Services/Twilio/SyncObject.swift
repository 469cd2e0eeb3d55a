internal import Chat
internal import JSON

/// A map, list or document of Sync that is being read.
struct SyncObject {
    let sid: String
    let stream: StreamID
    let role: Role
    /// Where its items are; nil for a document.
    let items: String?
    var order: SyncStream<SyncChange>
    /// Of the last message that counts as read.
    var index: Int64?
    /// How far steward has taken what was read.
    var taken: Int64
    var takenIndex: Int64?

    enum Role: Equatable {
        /// The messages of a channel, by its place in the book; the same for the next two.
        case messages(Int)
        case roster(Int)
        case document(Int)
        /// Which channels are ours.
        case standings
        /// What somebody is called, by their number among those who are followed.
        case profile(Int)

        var channel: Int? {
            switch self {
            case .messages(let channel), .roster(let channel), .document(let channel): channel
            case .standings, .profile: nil
            }
        }

        /// What Sync calls such a thing.
        var objectType: String {
            switch self {
            case .messages: "list"
            case .roster, .standings, .profile: "map"
            case .document: "document"
            }
        }
    }

    init(sid: String, stream: StreamID, role: Role, items: String?, mark: Int64, index: Int64?) {
        self.sid = sid
        self.items = items
        self.stream = stream
        self.role = role
        order = SyncStream(mark: mark)
        self.index = index
        taken = mark
        takenIndex = index
    }
}

/// The kinds of Sync events, by Twilio's names.
enum SyncEventType: Equatable {
    case mapItemAdded, mapItemUpdated, mapItemRemoved
    case listItemAdded, listItemUpdated, listItemRemoved
    case documentUpdated
    case objectRemoved(String)
    case established, failed, canceled

    init?(_ node: JSONNode?) {
        guard let name = node?.utf8 else { return nil }
        self.init(name)
    }

    private init?(_ name: UnsafeBufferPointer<UInt8>) {
        if name.isEqual(to: "list_item_added") {
            self = .listItemAdded
        } else if name.isEqual(to: "document_updated") {
            self = .documentUpdated
        } else if name.isEqual(to: "map_item_updated") {
            self = .mapItemUpdated
        } else if name.isEqual(to: "map_item_added") {
            self = .mapItemAdded
        } else if name.isEqual(to: "map_item_removed") {
            self = .mapItemRemoved
        } else if name.isEqual(to: "list_item_updated") {
            self = .listItemUpdated
        } else if name.isEqual(to: "list_item_removed") {
            self = .listItemRemoved
        } else if name.isEqual(to: "subscription_established") {
            self = .established
        } else if name.isEqual(to: "subscription_failed") {
            self = .failed
        } else if name.isEqual(to: "subscription_canceled") {
            self = .canceled
        } else if name.isEqual(to: "map_removed") {
            self = .objectRemoved("map_sid")
        } else if name.isEqual(to: "list_removed") {
            self = .objectRemoved("list_sid")
        } else if name.isEqual(to: "document_removed") {
            self = .objectRemoved("document_sid")
        } else {
            return nil
        }
    }

    /// The name of the field with the object's SID.
    var sidName: String {
        switch self {
        case .mapItemAdded, .mapItemUpdated, .mapItemRemoved: "map_sid"
        case .listItemAdded, .listItemUpdated, .listItemRemoved: "list_sid"
        case .documentUpdated: "document_sid"
        case .objectRemoved(let name): name
        case .established, .failed, .canceled: "object_sid"
        }
    }

    var isOfList: Bool {
        switch self {
        case .listItemAdded, .listItemUpdated, .listItemRemoved: true
        default: false
        }
    }

    var isData: Bool {
        switch self {
        case .objectRemoved, .established, .failed, .canceled: false
        default: true
        }
    }
}
