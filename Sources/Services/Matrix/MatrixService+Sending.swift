internal import Chat
internal import JSON

extension MatrixService {
    // MARK: Messages

    func send(
        _ outgoing: Outgoing, to room: String, replyTo: String? = nil, key: ActionKey
    ) async throws -> Receipt {
        try await refuseEncrypted(room)
        var relation = JSONObject()
        if let replyTo { relation = try await relates(to: replyTo, in: room, asThread: outgoing.inThread) }
        var first: String?
        if !outgoing.text.isEmpty || outgoing.attachments.isEmpty {
            let content = content(outgoing, in: room, relation: relation, key: key)
            first = try await put("m.room.message", content, to: room, transaction: key.text)
        }
        for (number, file) in outgoing.attachments.enumerated() {
            let content = try await content(file, relation: relation, key: key)
            let id = try await put(
                "m.room.message", content, to: room, transaction: "\(key.text)-\(number + 1)")
            first = first ?? id
        }
        return Receipt(message: first.map { MessageReference(id: $0) }, channel: room)
    }

    func direct(_ outgoing: Outgoing, to user: String, key: ActionKey) async throws -> Receipt {
        guard user != book?.own.text else { throw ChatServiceError.rejected("a direct message to ourselves") }
        let room: String
        do throws(MatrixFailure) {
            room = try await directRoom(with: user, key: key)
        } catch {
            guard outgoing.isSkippable, error.isFinal else { throw error }
            log.debug("no direct message to \(user): \(error.reason)")
            return Receipt()
        }
        return try await send(outgoing, to: room, key: key)
    }

    /// Sends an event; the same transaction again gives the same event.
    private func put(
        _ type: String, _ content: JSONObject, to room: String, transaction: String
    ) async throws -> String {
        let answer = try await succeed(
            .put("rooms", room, "send", type, transaction, body: .object(content)))
        guard let id = answer.json["event_id"]?.string else {
            throw ChatServiceError.unknownOutcome("an answer without event_id")
        }
        return id
    }

    private func refuseEncrypted(_ room: String) async throws {
        var isEncrypted = book?.rooms[room]?.isEncrypted
        if isEncrypted == nil {
            // We came just now, or are not there.
            let answer = try await ask(.get("rooms", room, "state", "m.room.encryption", ""))
            guard answer.isFine || answer.status == 404 else { throw MatrixFailure.refused(answer) }
            isEncrypted = answer.isFine
        }
        guard isEncrypted == true else { return }
        throw ChatServiceError.rejected(
            "\(name(of: room)) is encrypted, and steward writes nothing in plain text there")
    }

    // MARK: What stands in them

    private func content(
        _ outgoing: Outgoing, in room: String, relation: JSONObject, key: ActionKey
    ) -> JSONObject {
        let isNotice = settings.sendNotices ?? true || outgoing.isSilent
        var content = MessageText(outgoing.text, mentions: outgoing.isSilent ? [] : outgoing.mentions) {
            user in
            book?.member(user, in: room).name ?? localpart(of: user)
        }.content
        content["msgtype"] = isNotice ? "m.notice" : "m.text"
        if !relation.isEmpty { content["m.relates_to"] = .object(relation) }
        content[RoomMessage.markKey] = ["key": .string(key.text)]
        if let text = outgoing.attributes, let more = (try? JSON(parsing: text))?.object {
            for (key, value) in more where content[key] == nil { content[key] = value }
        }
        return content
    }

    private func content(
        _ file: Outgoing.File, relation: JSONObject, key: ActionKey
    ) async throws -> JSONObject {
        let kind = file.contentType.prefix { $0 != "/" }
        let type = ["image", "audio", "video"].contains(kind) ? "m.\(kind)" : "m.file"
        var content: JSONObject = [
            "msgtype": .string(type), "body": .string(file.name), "filename": .string(file.name),
            "url": .string(try await upload(file)),
            "info": ["mimetype": .string(file.contentType), "size": .int(Int64(file.bytes.count))],
            "m.mentions": [:],
        ]
        if !relation.isEmpty { content["m.relates_to"] = .object(relation) }
        content[RoomMessage.markKey] = ["key": .string(key.text)]
        return content
    }

    /// Uploads a file and gives its address.
    private func upload(_ file: Outgoing.File) async throws -> String {
        var request = MatrixRequest(
            method: "POST", path: "/_matrix/media/v3/upload", query: [("filename", file.name)],
            body: file.bytes,
            contentType: file.contentType, timeout: timing.upload)
        request.maximumAnswer = 1 << 16
        do {
            let answer = try await succeed(request)
            guard let address = answer.json["content_uri"]?.string else {
                throw ChatServiceError.rejected("the answer to an upload has no content_uri")
            }
            return address
        } catch let failure as MatrixFailure {
            // An upload that nobody refers to does no harm, so all of it may be tried again.
            throw Self.error(failure, repeatsFreely: true)
        }
    }

    /// How an answer hangs on what it answers: one to a message of a thread stays in the thread.
    private func relates(
        to message: String, in room: String, asThread: Bool
    ) async throws -> JSONObject {
        let answer: JSON = ["event_id": .string(message)]
        guard let root = try await thread(of: message, in: room) ?? (asThread ? message : nil) else {
            return ["m.in_reply_to": answer]
        }
        return [
            "rel_type": "m.thread", "event_id": .string(root), "is_falling_back": false,
            "m.in_reply_to": answer,
        ]
    }

    /// The message that began the thread of that one; nil when it is in none.
    private func thread(of message: String, in room: String) async throws -> String? {
        if case .message(let thread)? = book?.recent[message]?.content { return thread }
        let answer = try await ask(.get("rooms", room, "event", message))
        guard answer.isFine, let event = try? json.read(answer.body, { RoomEvent($0) }) else { return nil }
        guard case .message(let found) = event.content else { return nil }
        return found.thread
    }

    // MARK: Changing them

    func edit(_ message: MessageReference, _ text: String, in room: String, key: ActionKey) async throws
        -> Receipt
    {
        try await refuseEncrypted(room)
        let new = content(Outgoing(text), in: room, relation: [:], key: key)
        var content = new
        content["body"] = .string("* " + text)
        if let html = new["formatted_body"]?.string { content["formatted_body"] = .string("* " + html) }
        content["m.new_content"] = .object(new)
        content["m.relates_to"] = ["rel_type": "m.replace", "event_id": .string(message.id)]
        _ = try await put("m.room.message", content, to: room, transaction: key.text)
        return Receipt(message: message, channel: room)
    }

    /// Takes the content of a message away, and of its edits, which the server may leave there.
    func redact(_ message: MessageReference, in room: String, key: ActionKey) async throws -> Receipt {
        let answer = try await ask(.put("rooms", room, "redact", message.id, key.text, body: [:]))
        guard answer.isFine || answer.status == 404 else { throw MatrixFailure.refused(answer) }
        for (number, edit) in try await edits(of: message.id, in: room).enumerated() {
            _ = try await succeed(
                .put("rooms", room, "redact", edit, "\(key.text)-\(number + 1)", body: [:]))
        }
        return Receipt(message: message, channel: room)
    }

    private func edits(of message: String, in room: String) async throws -> [String] {
        if book?.recent[message] != nil { return book?.recent.edits(of: message) ?? [] }
        var request = MatrixRequest.get(
            "rooms", room, "relations", message, "m.replace", query: [("limit", "100")])
        request.path = request.path.replacing("/client/v3/", with: "/client/v1/", maxReplacements: 1)
        // A server without that, or one that has forgotten the message, leaves nothing more to be done.
        guard let answer = try? await succeed(request) else { return [] }
        return answer.json["chunk"]?.array?.compactMap { $0["event_id"]?.string } ?? []
    }

    func react(_ emoji: String, to message: MessageReference, in room: String, key: ActionKey) async throws
        -> Receipt
    {
        let content: JSON = [
            "m.relates_to": [
                "rel_type": "m.annotation", "event_id": .string(message.id), "key": .string(emoji),
            ]
        ]
        let answer = try await ask(.put("rooms", room, "send", "m.reaction", key.text, body: content))
        guard answer.isFine || answer.code == "M_DUPLICATE_ANNOTATION" else {
            throw MatrixFailure.refused(answer)
        }
        return Receipt(message: message, channel: room)
    }
}
