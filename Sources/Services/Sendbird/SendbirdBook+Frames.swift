internal import Chat
internal import JSON

extension SendbirdBook {
    /// Reads a command that no one of ours waits for.
    mutating func read(_ letters: String, _ node: JSONNode, body: ArraySlice<UInt8>) {
        readUnread(node["unread_cnt"])
        if letters == "MCNT" { return readCounts(node) }
        guard let url = node["channel_url"]?.words else { return }
        guard rooms[url] != nil else {
            if isWorthKnowing(letters, node) { hold(letters, body, node, in: url) }
            return
        }
        switch letters {
        case "MESG", "FILE", "ADMM", "BRDM": readMessage(node, in: url)
        case "MEDI", "FEDI", "AEDI": readEdit(node, in: url)
        case "DELM": readDeletion(node, in: url)
        case "SYEV": readSystem(node, in: url)
        case "READ": readRead(node, in: url)
        case "DLVR": readDelivery(node, in: url)
        case "MRCT": readReaction(node, in: url)
        default: break
        }
    }

    /// Whether a channel that is not known has to be fetched because of it.
    private func isWorthKnowing(_ letters: String, _ node: JSONNode) -> Bool {
        switch letters {
        case "MESG", "FILE", "ADMM", "BRDM": true
        // Another's coming and going where we are not does not concern us; being asked does, and joining.
        case "SYEV": [10000, 10020].contains(node["cat"]?.number ?? 0)
        default: false
        }
    }

    /// Before the first message that waits for its channel to be known.
    func firstStrange(_ url: String) -> SendbirdRoom.Mark? {
        let messages = (strange[url] ?? []).compactMap { frame in frame.id.map { (id: $0, at: frame.at) } }
        return messages.min { $0.id < $1.id }.map { SendbirdRoom.Mark(id: $0.id - 1, at: $0.at - 1) }
    }

    /// Frames of a channel that is known by now.
    mutating func readStrange(_ url: String, with json: JSONReader) {
        for frame in strange.removeValue(forKey: url) ?? [] {
            try? json.read(frame.body) { read(frame.letters, $0, body: []) }
        }
    }

    // MARK: Messages

    private mutating func readMessage(_ node: JSONNode, in url: String) {
        guard let room = rooms[url], let seen = reading.message(node, operators: room.operators) else {
            return
        }
        // Where the service says which message was before, a lost one shows.
        if room.phase == .live, let before = node["previous_message_id"]?.number, before > room.mark.id,
            before < seen.id
        {
            rooms[url]?.phase = .wanting
            news.append(.gap(url))
        }
        happen(SendbirdHappening(message: seen), in: url)
    }

    private mutating func readEdit(_ node: JSONNode, in url: String) {
        guard let room = rooms[url], let seen = reading.message(node, operators: room.operators) else {
            return
        }
        let at = seen.changedAt > 0 ? seen.changedAt : now.milliseconds
        happen(SendbirdHappening(edit: seen, at: at), in: url)
    }

    private mutating func readDeletion(_ node: JSONNode, in url: String) {
        guard let id = node["msg_id"]?.number else { return }
        deleted(id, at: node["ts"]?.number ?? now.milliseconds, in: url)
    }

    /// A message is gone; what it said is known if we have heard it.
    private mutating func deleted(_ id: Int64, at moment: Int64, in url: String) {
        guard let happening = deletion(of: id, at: moment, in: url) else { return }
        happen(happening, in: url)
    }

    /// The same, as it was found in the list of changes.
    mutating func tellDeleted(_ id: Int64, at moment: Int64, in url: String) {
        guard let happening = deletion(of: id, at: moment, in: url) else { return }
        tell(happening, in: url)
    }

    private func deletion(of id: Int64, at moment: Int64, in url: String) -> SendbirdHappening? {
        guard let room = rooms[url] else { return nil }
        let held = room.held.lazy.compactMap { happening -> Message? in
            guard case .message(let seen) = happening.order, seen.id == id else { return nil }
            return seen.message
        }.first
        let message =
            room.recent[id]?.message ?? held
            ?? Message(id: "\(id)", index: id, author: reading.nobody, text: "")
        return SendbirdHappening(
            kind: .messageDeleted(message), id: "\(id)-deleted", at: Timestamp(milliseconds: moment),
            order: .change(id, at: moment, isDeletion: true))
    }

    // MARK: Marks

    private mutating func readRead(_ node: JSONNode, in url: String) {
        guard let member = member(node["user"], in: url), let at = node["ts"]?.number else { return }
        read(by: member, at: at, in: url)
    }

    mutating func read(by member: Member, at moment: Int64, in url: String) {
        guard let room = rooms[url], moment > room.read[member.user.text, default: 0] else { return }
        rooms[url]?.read[member.user.text] = moment
        if member.user == own { rooms[url]?.unread = 0 }
        guard let id = room.newest(by: moment) else { return }
        happen(
            SendbirdHappening(
                kind: .readHorizonMoved(member, to: id), id: "read-\(moment)-\(member.user)",
                at: Timestamp(milliseconds: moment), order: .passing), in: url)
    }

    private mutating func readDelivery(_ node: JSONNode, in url: String) {
        guard let updated = node["updated"], updated.kind == .object else { return }
        for (user, value) in updated.members {
            guard let room = rooms[url], let moment = value.number,
                moment > room.delivered[user, default: 0]
            else { continue }
            rooms[url]?.delivered[user] = moment
            guard let id = room.newest(by: moment) else { continue }
            let member = room.roster[user] ?? reading.member(user, isOperator: room.isOperator(user))
            happen(
                SendbirdHappening(
                    kind: .delivered(member, to: id), id: "delivered-\(moment)-\(user)",
                    at: Timestamp(milliseconds: moment), order: .passing), in: url)
        }
    }

    private mutating func readReaction(_ node: JSONNode, in url: String) {
        guard let room = rooms[url], let key = node["reaction"]?.words, let user = node["user_id"]?.words,
            let id = node["msg_id"]?.number
        else { return }
        let member = room.roster[user] ?? reading.member(user, isOperator: room.isOperator(user))
        let reaction = Reaction(by: member, to: MessageReference(id: "\(id)", index: id), key: key)
        let at = node["updated_at"]?.number ?? now.milliseconds
        let isAdded = node["operation"]?.equals("DELETE") != true
        happen(
            SendbirdHappening(
                kind: isAdded ? .reactionAdded(reaction) : .reactionRemoved(reaction),
                id: "\(isAdded ? "reacted" : "unreacted")-\(id)-\(at)-\(user)-\(key)",
                at: Timestamp(milliseconds: at), order: .lasting), in: url)
    }

    // MARK: Counts

    private mutating func readCounts(_ node: JSONNode) {
        for entry in node["group_channels"].map({ Array($0.elements) }) ?? [] {
            guard let url = entry["channel_url"]?.words else { continue }
            rooms[url]?.count(
                (entry["joined_member_count"] ?? entry["member_count"])?.number, at: entry["ts"]?.number ?? 0)
        }
        for entry in node["open_channels"].map({ Array($0.elements) }) ?? [] {
            guard let url = entry["channel_url"]?.words else { continue }
            rooms[url]?.count(entry["participant_count"]?.number, at: entry["ts"]?.number ?? 0)
        }
    }

    /// It may sit in any command.
    mutating func readUnread(_ node: JSONNode?) {
        guard let node, let count = node["all"]?.number else { return }
        let at = node["ts"]?.number ?? 0
        guard at >= unread?.at ?? .min else { return }
        unread = (count, at)
    }

    /// Somebody as a command of that channel describes them.
    func member(_ node: JSONNode?, in url: String) -> Member? {
        guard let user = reading.user(node) else { return nil }
        return reading.member(node, isOperator: rooms[url]?.isOperator(user.text) == true)
    }
}

extension SendbirdHappening {
    init(message seen: SeenMessage) {
        self.init(kind: .messageAdded(seen.message), id: "\(seen.id)", at: seen.at, order: .message(seen))
    }

    init(edit seen: SeenMessage, at moment: Int64) {
        self.init(
            kind: .messageEdited(seen.message), id: "\(seen.id)-\(moment)",
            at: Timestamp(milliseconds: moment), order: .change(seen.id, at: moment, isDeletion: false))
    }
}
