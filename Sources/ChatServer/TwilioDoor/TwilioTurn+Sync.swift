internal import Chat
internal import JSON

extension TwilioTurn {
    /// `/v3/Maps/…` and the same under `/v3/Services/IS…`.
    func sync(_ request: TwilioRequest, _ world: World) throws(WorldError) -> TwilioAnswer {
        var path = request.path[1...]
        if path.first == "Services" {
            guard path.count > 2, path[path.startIndex + 1] == links.names.service.text else {
                return nothingHere(request)
            }
            path = path.dropFirst(2)
        }
        guard let collection = path.popFirst() else { return nothingHere(request) }
        if collection == "Configuration", path.isEmpty, request.method == "GET" { return syncConfiguration() }
        guard let missing = Self.missing[collection] else { return nothingHere(request) }
        guard let name = path.popFirst() else {
            return request.method == "POST" ? readOnly() : notThatWay(request)
        }
        guard let id = world.feed(named: name), id.topic.syncPath == collection,
            let feed = world.state(of: id)
        else { return .refusal(404, code: missing, "\(collection.dropLast()) \(name) was not found") }
        guard world.mayRead(id, identity) else {
            return .refusal(403, code: 54007, "The identity has no access to \(name)")
        }
        guard request.method == "GET" else { return readOnly() }
        if path.isEmpty { return descriptor(id, feed, request, world) }
        guard path.first == "Items", id.topic != .channel, path.count <= 2 else {
            return nothingHere(request)
        }
        let items = SyncItems(id, of: world)
        if path.count == 2, let key = path.last {
            guard let item = items.item(key) else {
                return .refusal(404, code: collection == "Lists" ? 54151 : 54201, "Item \(key) was not found")
            }
            return .json { SyncShapes.item(item, of: id, feed.sid, links: links, &$0) }
        }
        return page(of: items, id, feed, request)
    }

    /// The codes for what is not there.
    private static let missing = ["Documents": 54100, "Lists": 54150, "Maps": 54200, "Streams": 54300]

    /// Chat changes its Sync objects itself.
    private func readOnly() -> TwilioAnswer {
        .refusal(403, code: 54007, "The identity may only read; use the chat commands")
    }

    private func syncConfiguration() -> TwilioAnswer {
        .json { writer in
            writer.object("links") { writer in
                writer.member("subscriptions", "https://cds.\(links.region).twilio.com/v4/Subscriptions")
                for (name, path) in [
                    ("document", "Documents"), ("list", "Lists"), ("map", "Maps"), ("stream", "Streams"),
                ] {
                    writer.member("\(name)s", "\(links.sync)/\(path)")
                    writer.member(name, "\(links.sync)/\(path)/{\(name)Id}")
                    guard name == "list" || name == "map" else { continue }
                    writer.member("\(name)_items", "\(links.sync)/\(path)/{\(name)Id}/Items")
                    writer.member("\(name)_item", "\(links.sync)/\(path)/{\(name)Id}/Items/{itemId}")
                }
            }
        }
    }

    private func descriptor(
        _ id: FeedID, _ feed: Feed, _ request: TwilioRequest, _ world: World
    ) -> TwilioAnswer {
        .json { writer in
            SyncShapes.descriptor(id, feed, name: world.uniqueName(of: id), links: links, &writer)
            if id.topic == .channel, let profile = world.channels[id.owner]?.profile {
                writer.object("data") { SyncShapes.data(.channel(profile), &$0) }
            } else if request.parameter("Include") == "items" {
                let items = SyncItems(id, of: world)
                let (found, _, _) = items.page(SyncItems.Query(size: 100))
                writer.array("items") { writer in
                    for item in found {
                        writer.object { SyncShapes.item(item, of: id, feed.sid, links: links, &$0) }
                    }
                }
            }
        }
    }

    private func page(
        of items: SyncItems, _ id: FeedID, _ feed: Feed, _ request: TwilioRequest
    ) -> TwilioAnswer {
        guard let query = SyncItems.Query(request) else { return badPage() }
        let (found, previous, next) = items.page(query)
        return .json { writer in
            writer.array("items") { writer in
                for item in found {
                    writer.object { SyncShapes.item(item, of: id, feed.sid, links: links, &$0) }
                }
            }
            links.meta("items", size: query.size, previous: previous, next: next, &writer)
        }
    }
}
