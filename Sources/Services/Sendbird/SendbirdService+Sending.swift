internal import Chat
internal import Crypto
internal import JSON

extension SendbirdService {
    typealias Destination = (url: String, kind: SendbirdRoom.Kind)

    /// Sends a message, and one more for each file. Each has an id made of the action's key, by which it is found when
    /// nobody knows whether it was sent; those that were are not sent again.
    func say(
        _ outgoing: Outgoing, key: ActionKey, replyTo: MessageReference?, to place: Destination,
        skips: Bool = false,
        on connection: SendbirdConnection
    ) async throws -> Receipt {
        var files: [JSONObject] = []
        for (number, file) in outgoing.attachments.enumerated() {
            let isSent = sentParts[Self.requestID(key, number + 1)] != nil
            files.append(isSent ? [:] : try await upload(file, for: place.url))
        }
        let parts = Self.parts(outgoing)
        return try await turn(place.url) { () async throws -> Receipt in
            var last: MessageReference?
            for part in parts {
                let id = Self.requestID(key, part)
                if let sent = sentParts[id] {
                    last = sent
                    continue
                }
                var body = common(outgoing, replyTo, place.url)
                if part == 0 {
                    body["message"] = .string(outgoing.text)
                } else {
                    for (name, value) in files[part - 1] { body[name] = value }
                }
                let answer: JSON
                do throws(SendbirdFailure) {
                    answer = try await command(
                        part == 0 ? "MESG" : "FILE", body, id: id, bucket: .send, on: connection)
                } catch {
                    guard skips, error.isRefusal else { throw error }
                    log.debug("no direct message: \(error.reason)")
                    return Receipt(channel: place.url)
                }
                guard let number = answer["msg_id"]?.int ?? answer["message_id"]?.int else {
                    throw ChatServiceError.unknownOutcome("an acknowledgement without an id")
                }
                last = MessageReference(id: "\(number)", index: number)
                if parts.count > 1 { sentParts[id] = last }
            }
            for part in parts { sentParts[Self.requestID(key, part)] = nil }
            return Receipt(message: last, channel: place.url)
        }
    }

    /// 0 is the text, and the others are files. A message without either is sent as it is.
    static func parts(_ outgoing: Outgoing) -> [Int] {
        let files = Array(outgoing.attachments.indices.map { $0 + 1 })
        return outgoing.text.isEmpty && !files.isEmpty ? files : [0] + files
    }

    /// The same for the same action, after a restart, too.
    static func requestID(_ key: ActionKey, _ part: Int) -> String {
        part == 0 ? "steward-\(key.text)" : "steward-\(key.text)-\(part)"
    }

    private func common(_ outgoing: Outgoing, _ replyTo: MessageReference?, _ url: String) -> JSONObject {
        var body: JSONObject = [
            "channel_url": .string(url), "data": .string(outgoing.attributes ?? ""), "custom_type": "",
            "mention_type": "users", "mentioned_user_ids": .array(outgoing.mentions.map { .string($0) }),
        ]
        if outgoing.isSilent {
            body["silent"] = true
            body["push_option"] = "suppress"
        }
        if let parent = replyTo.flatMap({ Int64($0.id) }) {
            body["parent_message_id"] = .int(parent)
            if !outgoing.inThread { body["reply_to_channel"] = true }
        }
        return body
    }

    /// Changes a message of ours.
    func change(
        _ message: MessageReference, _ fields: JSONObject, in place: Destination,
        on connection: SendbirdConnection
    ) async throws -> Receipt {
        guard let id = Int64(message.id) else {
            throw ChatServiceError.rejected("\"\(message.id)\" is no message of Sendbird")
        }
        var body = fields
        body["channel_url"] = .string(place.url)
        body["msg_id"] = .int(id)
        let hasFile = book?.rooms[place.url]?.recent[id]?.message.attachments.isEmpty == false
        let letters = hasFile ? "FEDI" : "MEDI"
        if hasFile { body["message"] = nil }
        let complete = body
        return try await turn(place.url) { () async throws -> Receipt in
            _ = try await command(letters, complete, bucket: .send, on: connection)
            return Receipt(message: message, channel: place.url)
        }
    }

    /// One message after the other in a channel.
    private func turn<Result>(_ url: String, _ body: () async throws -> Result) async throws -> Result {
        if !lanes.take(url) { await withCheckedContinuation { lanes.wait(url, $0) } }
        defer { lanes.leave(url)?.resume() }
        return try await body()
    }

    // MARK: Marks

    /// Says that we type, or no more; at most one of each in a second.
    func sayTyping(
        _ isTyping: Bool, in place: Destination, on connection: SendbirdConnection
    ) async throws -> Receipt {
        // Open channels have no such thing.
        guard place.kind == .group else { return Receipt(channel: place.url) }
        let letters = isTyping ? "TPST" : "TPEN"
        let now = clock.now()
        let name = letters + place.url
        if let last = typedAt[name], now - last < timing.marks { return Receipt(channel: place.url) }
        try await pace(.other)
        let body: JSON = ["channel_url": .string(place.url), "time": .int(now.milliseconds)]
        guard connection.tell(letters, body, at: now) else {
            throw SendbirdFailure.notConnected("the connection is congested")
        }
        typedAt[name] = now
        return Receipt(channel: place.url)
    }

    /// Everything in the channel counts as read. Those who ask within a second share one mark, at the end of it.
    func markRead(_ place: Destination, on connection: SendbirdConnection) async throws -> Receipt {
        guard place.kind == .group else { return Receipt(channel: place.url) }
        let url = place.url
        if let running = reads[url] {
            if let failure = await running.value { throw failure }
            return Receipt(channel: url)
        }
        let wait = readAt[url].map { timing.marks - (clock.now() - $0) } ?? .zero
        let task = Task { () -> SendbirdFailure? in
            if wait > .zero, (try? await self.clock.sleep(wait)) == nil { return .notConnected("cancelled") }
            self.reads[url] = nil
            self.readAt[url] = self.clock.now()
            do throws(SendbirdFailure) {
                _ = try await self.command(
                    "READ", ["channel_url": .string(url)], bucket: .mark, on: connection)
                return nil
            } catch {
                return error
            }
        }
        reads[url] = task
        if let failure = await task.value { throw failure }
        book?.rooms[url]?.unread = 0
        return Receipt(channel: url)
    }

    // MARK: Files

    /// Uploads a file and gives what a message says of it.
    private func upload(_ file: Outgoing.File, for url: String) async throws -> JSONObject {
        if let most = login.largestFile, Int64(file.bytes.count) > most {
            throw ChatServiceError.rejected("\"\(file.name)\" is larger than \(most >> 20) MB")
        }
        let boundary = "steward-" + Hex.encode(randomBytes(12))
        let body = Self.form(
            boundary, [("channel_url", url), ("request_id", SendbirdConnection.newID())], file)
        // In the order in which they were given.
        let answer = try await turn("upload") { () async throws -> JSON in
            try await pace(.upload)
            let key = login.key
            do {
                return try await post(body, boundary)
            } catch let failure as SendbirdFailure {
                guard case .refused(let refusal) = failure, refusal.isAboutSession else { throw failure }
                if let failure = await renew(instead: key) { throw failure }
                return try await post(body, boundary)
            }
        }
        guard let link = answer["url"]?.string else {
            throw ChatServiceError.rejected("the file server gives no url")
        }
        return [
            "url": .string(link), "name": .string(file.name), "type": .string(file.contentType),
            "size": .int(answer["file_size"]?.int ?? Int64(file.bytes.count)),
            "thumbnails": answer["thumbnails"] ?? [], "require_auth": answer["require_auth"] ?? false,
        ]
    }

    private func post(_ body: [UInt8], _ boundary: String) async throws -> JSON {
        let headers =
            headers(for: .session) + [("Content-Type", "multipart/form-data; boundary=\(boundary)")]
        do {
            return try await send("POST", "/storage/file", [], headers, body, timeout: .seconds(120))
        } catch {
            // A file that nobody refers to does no harm, so all of it may be tried again.
            switch error {
            case .unknown(let why), .notConnected(let why):
                throw ChatServiceError.rateLimited(after: .seconds(2), why)
            case .refused(let refusal) where refusal.mayPass:
                throw ChatServiceError.rateLimited(after: refusal.pause ?? .seconds(2), refusal.description)
            case .refused: throw error
            }
        }
    }

    private static func form(
        _ boundary: String, _ fields: [(String, String)], _ file: Outgoing.File
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += Array(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        // A name must not end its own header.
        let name = String(file.name.map { "\"\r\n\\".contains($0) ? "_" : $0 })
        let type =
            file.contentType.contains(where: \.isNewline) ? "application/octet-stream" : file.contentType
        bytes += Array(
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\n"
                .utf8)
        bytes += file.bytes
        bytes += Array("\r\n--\(boundary)--\r\n".utf8)
        return bytes
    }
}
