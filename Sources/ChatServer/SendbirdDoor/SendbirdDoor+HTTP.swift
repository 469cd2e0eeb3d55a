internal import Chat
internal import Crypto
internal import HTTPServer
internal import JSON

/// Requests over HTTP: of users with the key of their session, and of programs with the token of the Platform API.
extension SendbirdDoor {
    static let openToPages = [
        ("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Headers", "*"),
        ("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE"),
    ]

    func answer(_ request: HTTPRequest, path: ArraySlice<String>, base: String) async -> HTTPReply {
        if request.method == "OPTIONS" { return .answer(status: 204, headers: Self.openToPages) }
        if path.first == "files", path.count == 2 { return await file(path.last ?? "", request) }
        let known: Set = [
            "open_channels", "group_channels", "users", "applications", "storage", "sdk", "report",
        ]
        guard let first = path.first, known.contains(first) else {
            return refusal(.init(400930, "There is nothing here.", status: 404))
        }
        do throws(SendbirdRefusal) {
            if let name = request.unreadable { throw .init(400151, "\(name) is no UTF-8.") }
            if path.first == "sdk", path.dropFirst().first == "statistics" {
                return json(SendbirdAnswer.nothing.body)
            }
            if path.first == "users", path.last == "session_key", path.count == 3 {
                return try renew(request, path[path.startIndex + 1])
            }
            let (actor, now) = (try actor(of: request), Timestamp.now)
            if let fault = fault(for: actor) { throw fault }
            if path.first == "storage" { return try await upload(request, as: actor, base) }
            var fields: JSON = [:]
            if !request.body.isEmpty {
                guard let body = try? JSON(sent: request.body), body.object != nil else {
                    throw .init(400403, "The body is no JSON object.")
                }
                fields = body
            }
            if request.method != "GET", let trouble = hall.trouble {
                throw .init(500901, trouble, status: 503)
            }
            var path = Array(path)
            // The same channels under another address, for what an event made a client ask.
            if path.first == "sdk" { path.removeFirst() }
            let turn = SendbirdTurn(
                request: SendbirdRequest(
                    method: request.method, path: path, query: request.query, fields: fields, base: base,
                    actor: actor), door: self, now: now)
            return json(try await take(turn))
        } catch {
            return refusal(error)
        }
    }

    /// Done in the world, and answered when it is stored and told.
    private func take(_ turn: SendbirdTurn) async throws(SendbirdRefusal) -> [UInt8] {
        let result: Result<[UInt8], SendbirdRefusal> = await withCheckedContinuation { continuation in
            hall.take { world in
                do throws(SendbirdRefusal) {
                    let answer = try turn.answer(&world)
                    for (identity, _) in answer.revoked { self.endSessions(of: identity) }
                    return { audience in
                        for (typing, hearers) in answer.typing { audience.tell(typing, to: hearers) }
                        for (identity, reason) in answer.revoked {
                            for connection in self.connections.of(identity) {
                                connection.warn(reason, in: -1)
                            }
                        }
                        continuation.resume(returning: .success(answer.body))
                    }
                } catch {
                    return { _ in continuation.resume(returning: .failure(error)) }
                }
            }
        }
        return try result.get()
    }

    private func actor(of request: HTTPRequest) throws(SendbirdRefusal) -> String {
        if let token = request.header("Api-Token") {
            let wanted = settings.sendbird.apiToken
            guard let wanted, constantTimeEqual(token, wanted) else {
                refusals.note(request.remote, "/v3", "the Platform API's token is wrong")
                throw .init(400401, "The API token is not valid.", status: 401)
            }
            return World.service
        }
        guard let key = request.header("Session-Key") else {
            throw .init(400303, "\"Session-Key\" is missing.")
        }
        return try hall.look { world throws(SendbirdRefusal) in
            try session(of: key, world, at: .now).identity
        }
    }

    private func fault(for actor: String) -> SendbirdRefusal? {
        faults.take(for: actor) { fault -> SendbirdRefusal? in
            guard case .refuse(let status, let code, let retryAfter) = fault else { return nil }
            return SendbirdRefusal(code, "refused for a test", status: status, retryAfter: retryAfter)
        }
    }

    /// A session's key in place of one that ends, without a socket.
    private func renew(_ request: HTTPRequest, _ identity: String) throws(SendbirdRefusal) -> HTTPReply {
        if let application = request.header("App-Id"),
            application.lowercased() != self.application.lowercased()
        {
            throw .init(400304, "There is no application \"\(application)\" here.")
        }
        let fault = faults.take(for: identity) { fault -> SendbirdRefusal? in
            guard case .refuseUpdate(let status, let code) = fault else { return nil }
            return SendbirdRefusal(code ?? 400302, "refused for a test", status: status)
        }
        if let fault { throw fault }
        let body = try? JSON(parsing: request.body)
        let token = request.header("Access-Token") ?? body?["token"]?.string
        guard token != nil || !SendbirdLogin.isOfPage(request) else { throw .wrongToken }
        let session = try hall.look { world throws(SendbirdRefusal) in
            try renewed(identity, token, world, at: .now)
        }
        return json(
            SendbirdAnswer { writer in
                writer.member("key", keys.key(for: session))
                writer.member("expires_at", session.ends.milliseconds / 1000)
                writer.array("services") { $0.value("chat") }
            }.body)
    }

    // MARK: Files

    private func upload(
        _ request: HTTPRequest, as actor: String, _ base: String
    ) async throws(SendbirdRefusal) -> HTTPReply {
        guard request.method == "POST" else { throw .init(400930, "Use POST.", status: 405) }
        let type = request.header("Content-Type") ?? ""
        guard let file = Multipart(type: type, body: request.body)?.file else { throw .missing("file") }
        guard file.content.count <= settings.mediaBytes else {
            throw .init(400110, "A file may have at most \(settings.mediaBytes) bytes.", status: 413)
        }
        let media = Media(
            sid: .fresh(.media), category: "media", filename: file.name, contentType: file.type,
            size: file.content.count, author: actor, uploaded: .now)
        let knows: (SID) -> Bool = { sid in self.hall.look { $0.medias[sid] != nil } }
        guard shelf.put(file.content, for: media.sid, knows: knows) else {
            throw .init(500901, "There is no room for more files in memory.", status: 503)
        }
        let content = file.content
        _ = try? await hall.change { $0.add(media, content: content) }
        return json(
            SendbirdAnswer { writer in
                writer.member("url", "\(base)/v3/files/\(media.sid)")
                writer.array("thumbnails") { _ in }
                writer.member("require_auth", false)
                writer.member("file_size", media.size)
            }.body)
    }

    /// Whoever has the address may have the file: nobody can guess it.
    private func file(_ name: String, _ request: HTTPRequest) async -> HTTPReply {
        guard request.method == "GET" || request.method == "HEAD",
            let media = SID(name).flatMap({ sid in hall.look { $0.medias[sid] } }),
            let content = try? await shelf.content(of: media.sid)
        else { return refusal(.init(400201, "There is no such file.", status: 404)) }
        return MediaDoor.reply(content, type: media.contentType)
    }

    // MARK: Replies

    private func json(_ body: [UInt8]) -> HTTPReply { .json(200, body, headers: Self.openToPages) }

    private func refusal(_ refusal: SendbirdRefusal) -> HTTPReply {
        var headers = Self.openToPages
        if let wait = refusal.retryAfter { headers.append(("X-RateLimit-RetryAfter", String(wait))) }
        return .json(refusal.status, refusal.json, headers: headers)
    }
}
