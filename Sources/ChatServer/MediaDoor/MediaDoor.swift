internal import Chat
internal import Crypto
internal import HTTPServer
internal import JSON

/// Takes and gives files over plain HTTP, under `/v1/Services/IS…/Media`.
struct MediaDoor: Sendable {
    let hall: Hall
    let issuer: TokenIssuer
    let settings: ServerSettings
    let shelf: MediaShelf
    let refusals: Refusals

    /// How long an address for downloading works.
    private static let linkLife = Duration.seconds(300)
    /// Any page may use the media service, as it may use Twilio's: what lets it in is the token in the request.
    static let openToPages = [
        ("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
        ("Access-Control-Allow-Headers", "*"),
    ]

    /// `path` is what comes after `/v1`.
    func answer(_ request: HTTPRequest, path: ArraySlice<String>, base: String) async -> HTTPReply {
        if request.method == "OPTIONS" { return .answer(status: 204, headers: Self.openToPages) }
        guard path.count >= 3, path.first == "Services",
            path[path.startIndex + 1] == issuer.names.service.text
        else { return refusal(404, 20404, "not found") }
        let rest = Array(path.dropFirst(2))
        // A download's address carries its own proof.
        if rest.count == 3, rest[2] == "Download" { return await download(rest[1], request) }
        guard let claims = claims(of: request) else {
            refusals.note(request.remote, "/v1/…/Media", "X-Twilio-Token is missing or wrong")
            return refusal(401, 20101, "X-Twilio-Token is missing or wrong")
        }
        let links = TwilioLinks(names: issuer.names, mediaBase: base)
        switch (request.method, rest.count, rest[0]) {
        case ("POST", 1, "Media"): return await upload(request, as: claims.identity, links)
        case ("POST", 1, "MediaSet"): return several(request, links)
        case ("GET", 2, "Media"):
            guard let media = media(rest[1]) else {
                return refusal(404, 20404, "there is no file \(rest[1])")
            }
            return reply(200) { shape(media, links, &$0) }
        default: return refusal(404, 20404, "not found")
        }
    }

    private func claims(of request: HTTPRequest) -> TokenIssuer.Claims? {
        request.header("X-Twilio-Token").flatMap { try? issuer.check($0, at: .now) }
    }

    private func media(_ sid: String) -> Media? {
        SID(sid).flatMap { sid in hall.look { $0.medias[sid] } }
    }

    private func upload(_ request: HTTPRequest, as author: String, _ links: TwilioLinks) async -> HTTPReply {
        let type = request.header("Content-Type") ?? "application/octet-stream"
        var file = Multipart.File(name: nil, type: type, content: request.body)
        if type.lowercased().hasPrefix("multipart/form-data") {
            guard let part = Multipart(type: type, body: request.body)?.file else {
                return refusal(400, 20001, "the form holds no file")
            }
            file = part
        }
        guard file.content.count <= settings.mediaBytes else {
            return refusal(413, 20001, "a file may have at most \(settings.mediaBytes) bytes")
        }
        let media = Media(
            sid: .fresh(.media), category: request.parameter("Category") ?? "media",
            filename: request.parameter("Filename") ?? file.name, contentType: file.type,
            size: file.content.count, author: author, uploaded: .now)
        guard
            shelf.put(
                file.content, for: media.sid, knows: { sid in hall.look { $0.medias[sid] != nil } })
        else {
            return refusal(503, 20001, "there is no room for more files in memory")
        }
        let content = file.content
        _ = try? await hall.change { $0.add(media, content: content) }
        return reply(201) { shape(media, links, &$0) }
    }

    /// `{"command":"get","list":[{"media_sid":"ME…"}]}`.
    private func several(_ request: HTTPRequest, _ links: TwilioLinks) -> HTTPReply {
        guard let body = try? JSON(parsing: request.body), body["command"] == "get",
            let list = body["list"]?.array, list.count <= 100
        else { return refusal(400, 20001, "command and list are needed") }
        var writer = JSONWriter()
        writer.array { writer in
            for entry in list {
                let media = media(entry["media_sid"]?.string ?? "")
                writer.object { writer in
                    writer.member("code", media == nil ? 404 : 200)
                    if let media { writer.object("media_record") { shape(media, links, &$0) } }
                }
            }
        }
        return .json(200, writer.bytes, headers: Self.openToPages)
    }

    private func download(_ sid: String, _ request: HTTPRequest) async -> HTTPReply {
        let expires = request.parameter("Expires") ?? ""
        guard let media = media(sid), let until = Int64(expires), until * 1000 > Timestamp.now.milliseconds,
            constantTimeEqual(request.parameter("Signature") ?? "", signature(media.sid, until: expires))
        else { return refusal(403, 20003, "the address has expired or is wrong") }
        do {
            guard let content = try await shelf.content(of: media.sid) else {
                return refusal(404, 20404, "the file is gone")
            }
            return Self.reply(content, type: media.contentType)
        } catch {
            return refusal(503, 20001, "the file cannot be read now")
        }
    }

    /// A file is somebody's; it must not act as a page of ours.
    static func reply(_ content: [UInt8], type: String) -> HTTPReply {
        .answer(
            status: 200,
            headers: [
                ("Content-Type", headerSafe(type)), ("Content-Disposition", "attachment"),
                ("X-Content-Type-Options", "nosniff"),
                ("Content-Security-Policy", "sandbox; default-src 'none'"),
            ] + openToPages, body: content)
    }

    private static func headerSafe(_ type: String) -> String {
        let isPlain = type.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
        return isPlain ? type : "application/octet-stream"
    }

    private func signature(_ media: SID, until: String) -> String {
        Base64.url.encode(
            HMAC.sha256(key: Array(issuer.names.secret.utf8), data: Array("download \(media) \(until)".utf8)))
    }

    private func shape(_ media: Media, _ links: TwilioLinks, _ writer: inout JSONWriter) {
        let url = "\(links.media)/\(media.sid)"
        let until = String((Timestamp.now + Self.linkLife).milliseconds / 1000)
        let direct = "\(url)/Download?Expires=\(until)&Signature=\(signature(media.sid, until: until))"
        writer.member("sid", media.sid.text)
        writer.member("service_sid", issuer.names.service.text)
        writer.member("date_created", media.uploaded.text)
        writer.member("date_upload_updated", media.uploaded.text)
        writer.member("date_updated", media.uploaded.text)
        writer.member("size", media.size)
        writer.member("content_type", media.contentType)
        writer.member("filename", orNull: media.filename)
        writer.member("author", media.author)
        writer.member("category", media.category)
        writer.member("message_sid", orNull: String?.none)
        writer.member("channel_sid", orNull: String?.none)
        writer.member("url", url)
        writer.object("links") { writer in
            writer.member("content", direct)
            writer.member("content_direct_temporary", direct)
        }
    }

    private func reply(_ status: Int, _ write: (inout JSONWriter) -> Void) -> HTTPReply {
        .json(status, TwilioAnswer.json(status, write).body, headers: Self.openToPages)
    }

    private func refusal(_ status: Int, _ code: Int, _ why: String) -> HTTPReply {
        .json(status, TwilioAnswer.refusal(status, code: code, why).body, headers: Self.openToPages)
    }
}
