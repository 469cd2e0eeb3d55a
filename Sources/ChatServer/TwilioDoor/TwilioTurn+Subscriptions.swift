internal import Chat
internal import JSON

extension TwilioTurn {
    /// `POST /v4/Subscriptions`: what is missing of each entity is told again, then that all is told.
    func subscriptions(_ request: TwilioRequest, _ world: World) -> TwilioAnswer {
        guard request.path.last == "Subscriptions" else { return nothingHere(request) }
        guard request.method == "POST" else { return notThatWay(request) }
        let action = request.json["action"]?.string
        guard action == "establish" || action == "cancel", let entries = request.json["requests"]?.array
        else {
            return .refusal(400, code: 20001, "action and requests are needed")
        }
        guard entries.count <= Self.batch else {
            return .refusal(400, code: 20001, "at most \(Self.batch) requests at once")
        }
        var answer = TwilioAnswer.json(202) { writer in
            writer.member("estimated_delivery_in_ms", 10000)
            writer.member("max_batch_size", Self.batch)
            writer.member("ttl_in_s", 86400)
        }
        let order = Order(
            version: request.json["event_protocol_version"]?.int == 3 ? 3 : 4,
            correlation: request.json["correlation_id"])
        for entry in entries {
            if action == "cancel" {
                cancel(entry, order, world, &answer)
            } else {
                establish(entry, order, world, &answer)
            }
        }
        return answer
    }

    private static let batch = 1000

    /// What a batch of requests has in common.
    private struct Order {
        let version: Int
        let correlation: JSON?
    }

    private func establish(
        _ entry: JSON, _ order: Order, _ world: World, _ answer: inout TwilioAnswer
    ) {
        let sid = entry["object_sid"]?.string ?? ""
        guard let id = SID(sid).flatMap({ world.feeds[$0] }), let feed = world.state(of: id) else {
            return fail(entry, order, status: 404, code: Self.missing(entry), &answer)
        }
        guard world.mayRead(id, identity) else {
            return fail(entry, order, status: 403, code: 54007, &answer)
        }
        let known = entry["last_event_id"]?.int ?? feed.lastEvent
        for event in feed.events(after: known) {
            let event = WorldEvent(
                feed: id, sid: feed.sid, name: world.uniqueName(of: id), identity: world.identities[id.owner],
                event: event, isPrivate: false, profile: nil, joined: 0, invited: 0)
            answer.notifications.append(
                TwilioNotification(
                    type: SyncEvents.replayed,
                    payload: SyncEvents.payload(
                        event, version: order.version, correlation: order.correlation, links: links)))
        }
        tell("subscription_established", entry, order, &answer) { writer in
            writer.member("replay_status", "completed")
            writer.member("last_event_id", feed.lastEvent)
        }
        answer.subscribed.append((id, order.version))
    }

    private func cancel(_ entry: JSON, _ order: Order, _ world: World, _ answer: inout TwilioAnswer) {
        if let id = SID(entry["object_sid"]?.string ?? "").flatMap({ world.feeds[$0] }) {
            answer.cancelled.append(id)
        }
        tell("subscription_canceled", entry, order, &answer) { _ in }
    }

    private func fail(
        _ entry: JSON, _ order: Order, status: Int, code: Int, _ answer: inout TwilioAnswer
    ) {
        tell("subscription_failed", entry, order, &answer) { writer in
            writer.object("error") { writer in
                writer.member("status", status)
                writer.member("code", code)
                writer.member("message", status == 404 ? "not found" : "no access")
            }
        }
    }

    private func tell(
        _ type: String, _ entry: JSON, _ order: Order, _ answer: inout TwilioAnswer,
        _ more: (inout JSONWriter) -> Void
    ) {
        let payload = SyncEvents.terminal(type, version: order.version, correlation: order.correlation) {
            writer in
            writer.member("object_sid", entry["object_sid"]?.string ?? "")
            writer.member("object_type", entry["object_type"]?.string ?? "")
            more(&writer)
        }
        answer.notifications.append(TwilioNotification(type: SyncEvents.replayed, payload: payload))
    }

    private static func missing(_ entry: JSON) -> Int {
        switch entry["object_type"]?.string {
        case "document": 54100
        case "list": 54150
        case "map": 54200
        default: 54300
        }
    }
}
