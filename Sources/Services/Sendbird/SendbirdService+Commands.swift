internal import Chat
internal import JSON

extension SendbirdService {
    /// A command has come.
    func take(
        _ letters: String, _ node: JSONNode, body: ArraySlice<UInt8>, on connection: SendbirdConnection,
        at now: Timestamp
    ) {
        switch letters {
        case "PONG", "NOOP": return
        case "LOGI": return takeLogin(node, on: connection, at: now)
        case "EXPR": return takeExpiry(node)
        case "BUSY":
            let seconds = node["retry_after"]?.double ?? 1
            let words = node["message"]?.words ?? "the server is busy"
            ordered = .busy(words, .milliseconds(Int64(min(max(seconds, 0), 86_400) * 1000)))
            return
        default: break
        }
        let isError = letters == "EROR" || node["error"]?.isOn == true
        // Kept whatever its type is: ours are texts.
        let id = node["req_id"]?.words
        if isError {
            let refusal = SendbirdRefusal(node)
            if let id, connection.resolve(letters, id: id, .failure(.refused(refusal))) { return }
            log.debug("the server says \(refusal)")
            // It concerns the connection as such.
            if id == nil, refusal.isFinal { ordered = .final(refusal.description) }
            return
        }
        if let id, connection.resolve(letters, id: id, .success(node.json)) {
            book?.readUnread(node["unread_cnt"])
            // What we said is part of what is said; nobody tells it to us again.
            guard ["MESG", "FILE", "MEDI", "FEDI"].contains(letters) else { return }
        }
        book?.now = now
        book?.read(letters, node, body: body)
        noteDelivery(letters, node)
    }

    /// The server's welcome, or, with an id, another key.
    private func takeLogin(_ node: JSONNode, on connection: SendbirdConnection, at now: Timestamp) {
        let isError = node["error"]?.isOn == true
        if let id = node["req_id"]?.words {
            let outcome: SendbirdConnection.Outcome =
                isError ? .failure(.refused(SendbirdRefusal(node))) : .success(node.json)
            _ = connection.resolve("LOGI", id: id, outcome)
            return
        }
        guard !isError else {
            ordered = SendbirdEnd(SendbirdRefusal(node), withKey: login.cameWithKey)
            return
        }
        guard login.at == nil else { return }
        login.take(SendbirdLogin(node), at: now)
        book?.readUnread(node["unread_cnt"])
        self.connection = connection
        bell.ring()
    }

    /// Our session ends soon, or at once.
    private func takeExpiry(_ node: JSONNode) {
        let reason = node["reason"]?.number ?? 400309
        let refusal = SendbirdRefusal(code: reason, message: node["message"]?.string ?? "")
        if refusal.isFinal {
            ordered = .final("the session is over: \(refusal)")
        } else if (node["expires_in"]?.double ?? 0) < 0 {
            // It has ended. Whether the token has, too, the next log-in says.
            ordered = .sessionEnded("the session is over: \(refusal)")
        } else {
            let (key, token) = (login.key, login.token)
            // A server whose warnings never end must not cost a token each time.
            let left = Duration.seconds(min(max(node["expires_in"]?.double ?? 0, 0), 3600))
            let wait = min(warnings.next(at: clock.now()), left / 2)
            Task {
                if wait > .zero, (try? await clock.sleep(wait)) == nil { return }
                guard login.key == key else { return }
                if refusal.isTokenRefusal, let token { await keeper.invalidate(token) }
                await renew(instead: key)
            }
        }
    }

    // MARK: Saying things

    /// Sends a command and waits for its acknowledgement. A session that has ended is renewed and the command sent once
    /// more, under the same id.
    func command(
        _ letters: String, _ body: JSONObject, id: String = SendbirdConnection.newID(),
        bucket: SendbirdLimits.Bucket, on connection: SendbirdConnection
    ) async throws(SendbirdFailure) -> JSON {
        try await pace(bucket)
        let key = login.key
        do {
            return try await connection.ask(
                letters, body, id: id, until: clock.now() + timing.reply, clock: clock)
        } catch {
            guard case .refused(let refusal) = error, refusal.isAboutSession else { throw error }
            if refusal.isTokenRefusal, let token = login.token { await keeper.invalidate(token) }
            if let failure = await renew(instead: key) { throw failure }
            return try await connection.ask(
                letters, body, id: id, until: clock.now() + timing.reply, clock: clock)
        }
    }

    /// No more in a while than Sendbird allows.
    func pace(_ bucket: SendbirdLimits.Bucket) async throws(SendbirdFailure) {
        let now = clock.now()
        var wait = Duration.zero
        for place in (paces[bucket] ?? []).indices {
            wait = max(wait, paces[bucket]?[place].next(at: now) ?? .zero)
        }
        if wait > .zero, (try? await clock.sleep(wait)) == nil { throw .notConnected("cancelled") }
    }

    // MARK: Delivery receipts

    /// A message of somebody else in a group channel has arrived: its sender may want to know.
    private func noteDelivery(_ letters: String, _ node: JSONNode) {
        guard letters == "MESG" || letters == "FILE", let url = node["channel_url"]?.string,
            let room = book?.rooms[url], room.kind == .group,
            !room.isSuper || login.marksDeliveryInSuperGroups,
            let id = node["msg_id"]?.number, let user = book?.reading.user(node["user"]), user != book?.own
        else { return }
        undelivered[url] = max(id, undelivered[url] ?? 0)
    }

    /// The newest stands for those before it, so a busy channel costs one a second.
    func sayDelivered(on connection: SendbirdConnection, at now: Timestamp) {
        for (url, id) in undelivered {
            if let last = deliveredAt[url], now - last < timing.marks { continue }
            let body: JSON = [
                "channel_url": .string(url), "msg_id": .int(id),
                "req_id": .string(SendbirdConnection.newID()),
            ]
            guard connection.tell("MACK", body, at: now) else { return }
            undelivered[url] = nil
            deliveredAt[url] = now
        }
    }
}
