package import Chat
internal import JSON

extension MatrixService {
    /// Looks for the message, or the room, that carries the action's key.
    package func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? {
        guard isUp, let book else { throw .unreachable("\(account) is not connected") }
        do throws(MatrixFailure) {
            switch action.verb {
            case .createChannel:
                return book.rooms.values.first { $0.creation.key == key.text }.map { Receipt(channel: $0.id) }
            case .direct(_, let user):
                let rooms = book.rooms.values.filter {
                    $0.creation.direct == user || book.direct[$0.id] == user
                }
                for room in rooms.sorted(by: { $0.id < $1.id }) {
                    if let found = try await find(key, in: room.id, since: since) { return found }
                }
                return nil
            default:
                guard let room = book.room(named: action.place.channel) else { return nil }
                return try await find(key, in: room.id, since: since)
            }
        } catch {
            // It was asked only; that may be done again at any time.
            throw Self.error(error, repeatsFreely: true)
        }
    }

    /// Backwards from the newest, until it is older than the action can be.
    private func find(
        _ key: ActionKey, in room: String, since: Timestamp
    ) async throws(MatrixFailure) -> Receipt? {
        let oldest = since - .seconds(120)
        let filter: JSON = ["types": ["m.room.message"], "senders": [.string(book?.own.text ?? "")]]
        var query = [("dir", "b"), ("limit", "\(Self.page)"), ("filter", filter.description)]
        for _ in 0..<10 {
            let page = try await succeed(.get("rooms", room, "messages", query: query)).json
            for event in page["chunk"]?.array ?? [] {
                if event["content"]?[RoomMessage.markKey]?["key"]?.string == key.text,
                    event["content"]?["m.relates_to"]?["rel_type"]?.string != "m.replace",
                    let id = event["event_id"]?.string
                {
                    return Receipt(message: MessageReference(id: id), channel: room)
                }
                if let sent = event["origin_server_ts"]?.int, sent < oldest.milliseconds { return nil }
            }
            guard let end = page["end"]?.string else { return nil }
            query = query.filter { $0.0 != "from" } + [("from", end)]
        }
        return nil
    }
}
