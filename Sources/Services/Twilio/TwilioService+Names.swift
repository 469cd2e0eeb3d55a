internal import Chat
internal import JSON

extension TwilioService {
    /// Looks up what people are called, all at once: events may wait for it.
    func lookUpNames(_ news: [SyncBook.News], on connection: TwilsockConnection) async {
        await withTaskGroup(of: Void.self) { group in
            for case .nameless(let identity, let map) in news {
                group.addTask { await self.lookUpName(of: identity, in: map, on: connection) }
            }
        }
    }

    /// One try: whoever speaks again is looked up again.
    private func lookUpName(of identity: String, in map: String, on connection: TwilsockConnection) async {
        let url = "\(settings.syncURL)/v3/Maps/\(map.percentEncoded)".adding("Include", "items")
        do throws(RequestFailure) {
            let answer = try await exchange(.get(url), on: connection)
            guard answer.isFine || answer.isFinal else { throw RequestFailure.answered(answer) }
            let object = answer.json
            let item = object["items"]?.array?.first { $0["key"]?.string == "friendlyName" }
            let name = item?["data"]?["value"]?.string
            reader.book?.call(identity, name?.isEmpty == true ? nil : name)
            if let sid = object["sid"]?.string, let mark = object["last_event_id"]?.int {
                reader.book?.follow(identity, map: sid, from: mark)
            }
        } catch {
            log.debug("the name of \(identity) is unknown: \(error.reason)")
            reader.book?.giveUp(on: identity, map: map)
        }
        await handOver()
    }
}

extension UpstreamAnswer {
    /// Not there, or not ours to see.
    fileprivate var isFinal: Bool { status == 403 || status == 404 }
}
