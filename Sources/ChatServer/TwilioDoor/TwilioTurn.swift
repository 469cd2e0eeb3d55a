internal import Chat
internal import JSON

/// One tunnelled request of one user, answered from the world: the command endpoints and Sync.
struct TwilioTurn {
    let identity: String
    let links: TwilioLinks
    let settings: ServerSettings
    let rates: WriteRates
    let now: Timestamp

    func answer(_ request: TwilioRequest, _ world: inout World) -> TwilioAnswer {
        if request.body == .unreadable {
            return .refusal(400, code: 20001, "The request's body cannot be read")
        }
        do throws(WorldError) {
            switch request.path.first {
            case "Client": return try client(request, &world)
            case "v1": return try instances(request, &world)
            case "v3": return try sync(request, world)
            case "v4": return subscriptions(request, world)
            default: return nothingHere(request)
            }
        } catch {
            let (status, code) = error.twilio
            return .refusal(status, code: code, "\(error)")
        }
    }

    func nothingHere(_ request: TwilioRequest) -> TwilioAnswer {
        .refusal(404, code: 20404, "The requested resource \(request.rawPath) was not found")
    }

    func notThatWay(_ request: TwilioRequest) -> TwilioAnswer {
        .refusal(405, code: 20004, "\(request.method) is not allowed on \(request.rawPath)")
    }

    /// `/Client/v2/…`, and `/Client/v1/…` of Programmable Chat.
    private func client(_ request: TwilioRequest, _ world: inout World) throws(WorldError) -> TwilioAnswer {
        let path = request.path
        guard path.count > 2, path[1] == "v1" || path[1] == "v2" else { return nothingHere(request) }
        if path.count == 3, path[2] == "Configuration" {
            return request.method == "GET" ? try configuration(world) : notThatWay(request)
        }
        guard path.count > 4, path[2] == "Services", path[3] == links.names.service.text else {
            return nothingHere(request)
        }
        let rest = Array(path[5...])
        switch path[4] {
        case "Conversations": return try conversations(rest, request, &world)
        case "Users": return try users(rest, request, &world)
        default: return nothingHere(request)
        }
    }

    /// `/v1/Instances/IS…/Typing`.
    private func instances(_ request: TwilioRequest, _ world: inout World) throws(WorldError) -> TwilioAnswer
    {
        guard request.path.count == 4, request.path[1] == "Instances",
            request.path[2] == links.names.service.text, request.path[3] == "Typing"
        else { return nothingHere(request) }
        guard request.method == "POST" else { return notThatWay(request) }
        guard case .form(let fields) = request.body, let name = fields["ChannelSid"] else {
            return .refusal(400, code: 20001, "ChannelSid is missing")
        }
        let channel = try world.channel(name, for: identity)
        guard channel.member(of: identity) != nil else { throw .notMember }
        var answer = TwilioAnswer.json { $0.member("typing_timeout", Self.typingTimeout) }
        answer.typing = (
            Typing(channel: channel.sid, identity: identity), Array(channel.memberByIdentity.keys)
        )
        return answer
    }

    /// Seconds between two notices that somebody is typing; those who are told get one more.
    static let typingTimeout = 5

    private func configuration(_ world: World) throws(WorldError) -> TwilioAnswer {
        let me = try world.person(identity)
        return .json { writer in
            writer.member("identity", identity)
            writer.member(
                "url", "https://aim.\(links.region).twilio.com/Client/\(links.version)/Configuration")
            writer.object("options") { options(&$0) }
            writer.object("sync_objects") { writer in
                writer.member("my_conversations", "\(identity).channels")
                writer.member("my_user_info", "\(me.sid).info")
            }
            writer.object("links") { writer in
                writer.member("my_conversations", links.mine(me.sid))
                writer.member("conversations", links.conversations)
                writer.member("users", links.users)
                writer.member("current_user", links.user(me.sid))
                writer.member("typing", links.typing)
                writer.member("media_service", links.media)
                writer.member("media_set_service", links.mediaSet)
                writer.member("messages_receipts", links.conversations + "/%s/Messages/%s/Receipts")
            }
        }
    }

    private func options(_ writer: inout JSONWriter) {
        writer.member("consumption_report_interval", "PT1S")
        writer.member("user_infos_to_subscribe", 100)
        writer.member("reachability_enabled", true)
        writer.member("http_cache_interval", "PT1S")
        writer.member("my_conversations_page_size", 100)
        guard links.version == "v2" else { return }
        let megabytes = settings.mediaBytes / (1024 * 1024)
        writer.member("media_attachments_count_limit", settings.limits.mediaOfMessage)
        writer.member("media_attachment_size_limit_in_mb", megabytes)
        writer.member("media_attachments_total_size_limit_in_mb", megabytes)
        writer.array("email_histories_allowed_mime_types") { $0.value("text/plain") }
        writer.array("email_bodies_allowed_mime_types") { $0.value("text/plain") }
    }

    /// A refusal when the channel, or for larger things the service, takes no more writes just now.
    func tooFast(_ place: SID? = nil) -> TwilioAnswer? {
        guard let wait = rates.take(place ?? links.names.service, at: now) else { return nil }
        var answer = TwilioAnswer.refusal(429, code: 50063, "Rate limit exceeded")
        answer.headers.append(("retry-after", String(max(1, (wait.milliseconds + 999) / 1000))))
        return answer
    }
}

/// What a request's body says, with words for what it should have said.
extension TwilioRequest {
    /// The text under a key; nil when there is none or it is null.
    func text(_ key: String) throws(WorldError) -> String? {
        guard let value = json[key], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalid("\(key) must be text") }
        return text
    }

    /// JSON text under `attributes`, checked to be JSON.
    func attributes() throws(WorldError) -> String? {
        guard let text = try text("attributes") else { return nil }
        guard text == "{}" || (try? JSON(parsing: text)) != nil else {
            throw .invalid("attributes must be JSON text")
        }
        return text
    }
}
