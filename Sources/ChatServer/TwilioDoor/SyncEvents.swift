internal import Chat
internal import JSON

/// How Sync tells of events, in the two forms that clients ask for: version 4 has an array of `events`, version 3 one
/// `event`.
enum SyncEvents {
    static let replayed = "twilio.sync.event"

    static func liveType(of topic: FeedID.Topic) -> String { "com.twilio.rtd.cds.\(topic.syncType)" }

    /// A change of a feed; `correlation` is set when it is told again to somebody who missed it.
    static func payload(
        _ event: WorldEvent, version: Int, correlation: JSON?, links: TwilioLinks
    ) -> [UInt8] {
        envelope(type(of: event), version: version, correlation: correlation) { writer in
            body(event, links: links, &writer)
        }
    }

    /// `subscription_established`, `subscription_canceled` or `subscription_failed`.
    static func terminal(
        _ type: String, version: Int, correlation: JSON?, _ fields: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        envelope(type, version: version, correlation: correlation, fields)
    }

    private static func envelope(
        _ type: String, version: Int, correlation: JSON?, _ fields: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("event_type", type)
            if let correlation { writer.member("correlation_id", correlation) }
            writer.member("event_protocol_version", version)
            if version >= 4 {
                writer.array("events") { $0.object { fields(&$0) } }
            } else {
                writer.object("event") { fields(&$0) }
            }
        }
        return writer.bytes
    }

    private static func type(of event: WorldEvent) -> String {
        let object = event.feed.topic.syncType
        switch event.event.kind {
        case .added: return object + "_item_added"
        case .updated: return object == "document" ? "document_updated" : object + "_item_updated"
        case .removed: return object + "_item_removed"
        case .ended: return object + "_removed"
        }
    }

    private static func body(_ world: WorldEvent, links: TwilioLinks, _ writer: inout JSONWriter) {
        let (event, object) = (world.event, world.feed.topic.syncType)
        let revision = SyncShapes.revision(event.id)
        writer.member("id", event.id)
        writer.member("date_created", event.at.text)
        writer.member(object + "_sid", world.sid.text)
        writer.member(object + "_revision", revision)
        writer.member(object + "_unique_name", world.name)
        guard event.kind != .ended else { return }
        let url = links.feed(world.feed, world.sid)
        switch event.subject {
        case .channel:
            writer.object("document_data") { SyncShapes.data(event.subject, &$0) }
            return
        case .message(let message):
            writer.member("item_index", message.index)
            writer.member("item_url", "\(url)/Items/\(message.index)")
        case .member(let member):
            writer.member("item_key", member.sid.text)
            writer.member("item_url", "\(url)/Items/\(member.sid)")
        case .membership(let membership):
            writer.member("item_key", membership.channel.text)
            writer.member("item_url", "\(url)/Items/\(membership.channel)")
        case .person(_, let key):
            writer.member("item_key", key.rawValue)
            writer.member("item_url", "\(url)/Items/\(key.rawValue)")
        case .happening, .nothing: break
        }
        writer.member("item_revision", revision)
        writer.object("item_data") { SyncShapes.data(event.subject, &$0) }
    }
}
