internal import Chat
internal import JSON

extension SendbirdService {
    /// Reads what is missing, in some channels at a time.
    func fillGaps(_ inbox: any Inbox) async throws {
        if let until = standing.behindUntil, clock.now() >= until {
            standing.behindUntil = nil
            for url in book?.rooms.keys.map({ $0 }) ?? [] where book?.rooms[url]?.phase == .behind {
                book?.rooms[url]?.phase = .wanting
            }
        }
        while true {
            let wanting = (book?.rooms.values.filter { $0.phase == .wanting }.map(\.url) ?? []).sorted()
            guard !wanting.isEmpty else { return }
            try await withThrowingTaskGroup(of: Void.self) { group in
                var waiting = wanting[...]
                func add() {
                    guard let url = waiting.popFirst() else { return }
                    group.addTask { try await self.fill(url) }
                }
                for _ in 0..<5 { add() }
                while try await group.next() != nil { add() }
            }
        }
    }

    /// Reads the messages after the last one that was handed over, then what was edited and deleted since, and then tells
    /// what came meanwhile.
    private func fill(_ url: String) async throws {
        guard let room = book?.rooms[url], room.phase == .wanting else { return }
        book?.rooms[url]?.phase = .filling
        do {
            try await fillMessages(room)
            try await fillChanges(room)
        } catch let failure as SendbirdFailure where !failure.isOfConnection && !failure.mayPass {
            log.error("what was missed in \"\(url)\" cannot be read: \(failure.reason)")
        }
        // Steward may have fallen behind, or we may be out of it by now.
        guard book?.rooms[url]?.phase == .filling else { return }
        _ = book?.settle(url)
        await handOver()
    }

    private func fillMessages(_ room: SendbirdRoom) async throws {
        // A little earlier than needed: something may have been on its way when the connection was lost.
        var from = max(room.opened.at, room.mark.at - timing.overlap.milliseconds)
        var known: Set<Int64> = []
        for _ in 0..<100_000 {
            let page = try await messages(
                in: room.url, room.kind, around: from, before: 0, after: Self.page, inclusive: true)
            guard book?.rooms[room.url]?.phase == .filling else { return }
            var isNew = false
            for seen in page.messages where known.insert(seen.id).inserted {
                isNew = true
                book?.tell(SendbirdHappening(message: seen), in: room.url)
            }
            await handOver()
            guard page.count >= Self.page, let last = page.messages.last else { return }
            // Some of one moment may be on the next page, so that one begins with the same.
            from = isNew ? last.at.milliseconds : max(from, last.at.milliseconds) + 1
        }
    }

    /// At once, of the 200 that are allowed.
    private static let page = 100

    private func fillChanges(_ room: SendbirdRoom) async throws {
        var query = [("change_ts", "\(room.changed)")]
        for _ in 0..<10_000 {
            let answer = try await fetch(
                "/\(room.kind.path)/\(room.url.percentEncoded)/messages/changelogs",
                query + [
                    ("is_sdk", "true"), ("with_sorted_meta_array", "true"), ("include_reply_type", "all"),
                ])
            guard book?.rooms[room.url]?.phase == .filling else { return }
            tellChanges(answer, since: room)
            await handOver()
            guard answer["has_more"]?.bool == true, let next = answer["next"]?.string, !next.isEmpty else {
                return
            }
            query = [("token", next)]
        }
    }

    private func tellChanges(_ answer: JSON, since room: SendbirdRoom) {
        var changes: [(at: Int64, happening: SendbirdHappening?, deleted: Int64)] = []
        let operators = room.operators
        for row in answer["updated"]?.array ?? [] {
            let seen = try? json.read(row.bytes()) { book?.reading.message($0, operators: operators) }
            // What was said and edited while we were away was read as it is now.
            guard let seen = seen ?? nil, seen.changedAt > room.changed, seen.id <= room.mark.id else {
                continue
            }
            changes.append((seen.changedAt, SendbirdHappening(edit: seen, at: seen.changedAt), 0))
        }
        for row in answer["deleted"]?.array ?? [] {
            let id = row["message_id"]?.int ?? row["message_id"]?.string.flatMap { Int64($0) } ?? row.int
            // Whoever never heard of it need not hear that it is gone.
            guard let id, id <= room.mark.id else { continue }
            let at = row["deleted_at"]?.int ?? serverMilliseconds
            guard at > room.changed else { continue }
            changes.append((at, nil, id))
        }
        for change in changes.sorted(by: { $0.at < $1.at }) {
            if let happening = change.happening {
                book?.tell(happening, in: room.url)
            } else {
                book?.tellDeleted(change.deleted, at: change.at, in: room.url)
            }
        }
    }

    /// Later than every message. Source: the behaviour of Sendbird's clients.
    static let endOfTime: Int64 = 9_007_199_254_740_991

    /// Messages around a moment, oldest first, and how many there were with those that are removed.
    func messages(
        in url: String, _ kind: SendbirdRoom.Kind, around moment: Int64, before: Int, after: Int,
        inclusive: Bool
    ) async throws(SendbirdFailure) -> (messages: [SeenMessage], count: Int) {
        let answer = try await fetch(
            "/\(kind.path)/\(url.percentEncoded)/messages",
            [
                ("is_sdk", "true"), ("message_ts", "\(max(moment, 0))"), ("prev_limit", "\(before)"),
                ("next_limit", "\(after)"), ("include", inclusive ? "true" : "false"), ("reverse", "false"),
                ("message_type", ""), ("custom_types", "*"), ("include_reply_type", "all"),
                ("with_sorted_meta_array", "true"), ("include_reactions", "false"),
                ("include_thread_info", "false"), ("include_parent_message_info", "false"),
            ])
        guard let reading = book?.reading else { return ([], 0) }
        let rows = answer["messages"]?.array ?? []
        let operators = book?.rooms[url]?.operators ?? []
        var messages: [SeenMessage] = []
        for row in rows {
            let seen = try? json.read(row.bytes()) { node in
                node["is_removed"]?.isOn == true ? nil : reading.message(node, operators: operators)
            }
            if let seen = seen ?? nil { messages.append(seen) }
        }
        // Whatever `reverse` does there.
        return (messages.sorted { ($0.at, $0.id) < ($1.at, $1.id) }, rows.count)
    }
}
