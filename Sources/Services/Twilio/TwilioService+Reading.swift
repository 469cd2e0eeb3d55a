package import Chat
internal import JSON

/// A channel as a list shows it.
package struct ListedChannel: Sendable, Equatable {
    package var id: String
    package var title: String
    package var uniqueName: String?
    /// We are in it.
    package var isJoined: Bool
}

extension TwilioService {
    /// The channels we are in and those that anybody may join, each once, by title.
    package func channelList() async throws(ChatServiceError) -> [ListedChannel] {
        guard let connection, let configuration else { throw .unreachable("\(account) is not connected") }
        do {
            var all: [String: ListedChannel] = [:]
            for listing in try await myChannels(on: connection) where listing.status == "joined" {
                all[listing.sid] = ListedChannel(listing, isJoined: true)
            }
            // Conversations has no public channels; Programmable Chat lists them here.
            if settings.isChat {
                for listing in try await pages(of: configuration.conversations, on: connection)
                where all[listing.sid] == nil {
                    all[listing.sid] = ListedChannel(listing, isJoined: false)
                }
            }
            return all.values.sorted { ($0.title.lowercased(), $0.id) < ($1.title.lowercased(), $1.id) }
        } catch {
            throw Self.error(error, repeatsFreely: true)
        }
    }

    /// The last messages of a channel, oldest first; those before index `before` when it is given.
    package func messages(
        in channel: String, count: Int = 100, before: Int64? = nil
    ) async throws(ChatServiceError) -> [Message] {
        guard let connection, let book = reader.book else {
            throw .unreachable("\(account) is not connected")
        }
        do {
            guard let state = book.channel(named: channel),
                let link = book.messages(of: state.channel.id.text)
            else { throw ChatServiceError.rejected("\(account) is not in a channel \"\(channel)\"") }
            var url = link.adding("PageSize", "\(min(max(count, 1), 100))").adding("Order", "desc")
            if let before {
                guard before > 0 else { return [] }
                url = url.adding("From", "\(before - 1)")
            }
            var messages: [Message] = []
            while messages.count < count {
                let page = try await fetch(url, on: connection)
                try? json.read(page.body) { node in
                    for item in node["items"].map({ Array($0.elements) }) ?? [] {
                        guard let index = item["index"]?.int, let data = item["data"] else { continue }
                        let author = data["author"]?.string ?? "system"
                        let member = state.member(author) ?? book.reading.stranger(author)
                        messages.append(
                            book.reading.message(MessageFields(data), index: index, by: member))
                    }
                }
                guard let next = page.json["meta"]?["next_token"]?.string, !next.isEmpty else { break }
                url = link.adding("PageToken", next)
            }
            return Array(messages.prefix(count).reversed())
        } catch let failure as RequestFailure {
            throw Self.error(failure, repeatsFreely: true)
        } catch let error as ChatServiceError {
            throw error
        } catch {
            throw .unreachable("\(error)")
        }
    }

    /// Looks for the message, or the channel, that carries the action's key.
    package func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? {
        // A connection that is not complete may hide what an older one has brought about.
        guard let connection, let configuration, isComplete else {
            throw .unreachable("\(account) is not connected")
        }
        do {
            let name: String
            switch action.verb {
            case .createChannel:
                return try await findChannel(of: key, named: action.place.channel, on: connection)
            case .direct(_, let user): name = DirectChannel.name(configuration.identity, user)
            default: name = action.place.channel
            }
            guard let list = try await messageList(of: name, on: connection) else { return nil }
            return try await findMessage(
                of: key, in: list.link, channel: list.sid, since: since, on: connection)
        } catch {
            throw Self.error(error, repeatsFreely: true)
        }
    }

    private func messageList(
        of name: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> (sid: String, link: String)? {
        if let state = reader.book?.channel(named: name),
            let link = reader.book?.messages(of: state.channel.id.text)
        {
            return (state.channel.id.text, link)
        }
        guard let listing = try await find(name, on: connection) else { return nil }
        let url = "\(settings.syncURL)/v3/Lists/\(listing.messages.percentEncoded)"
        guard let list = try await fetchIfThere(url, on: connection),
            let link = list.json["links"]?["items"]?.string
        else { return nil }
        return (listing.sid, link)
    }

    /// Backwards from the newest, until it is older than the action can be.
    private func findMessage(
        of key: ActionKey, in list: String, channel: String, since: Timestamp,
        on connection: TwilsockConnection
    ) async throws(RequestFailure) -> Receipt? {
        let oldest = since - .seconds(120)
        var url = list.adding("PageSize", "100").adding("Order", "desc")
        for _ in 0..<10 {
            let page = try await fetch(url, on: connection).json
            for item in page["items"]?.array ?? [] {
                guard let data = item["data"] else { continue }
                if MessageMark(attributes: data["attributes"]?.string)?.key == key.text,
                    let id = data["sid"]?.string
                {
                    return Receipt(
                        message: MessageReference(id: id, index: item["index"]?.int), channel: channel)
                }
                if let text = data["timestamp"]?.string, let sent = Timestamp(iso8601: text), sent < oldest {
                    return nil
                }
            }
            guard let next = page["meta"]?["next_token"]?.string, !next.isEmpty else { return nil }
            url = list.adding("PageToken", next)
        }
        return nil
    }

    private func findChannel(
        of key: ActionKey, named name: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> Receipt? {
        if !name.isEmpty { return try await find(name, on: connection).map { Receipt(channel: $0.sid) } }
        let found = try await myChannels(on: connection).first {
            MessageMark(attributes: $0.attributes)?.key == key.text
        }
        return found.map { Receipt(channel: $0.sid) }
    }

    /// A message as its list has it now.
    func item(
        of message: MessageReference, in sid: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> JSON? {
        guard let list = try await messageList(of: sid, on: connection) else { return nil }
        guard let index = message.index else {
            var url = list.link.adding("PageSize", "100").adding("Order", "desc")
            for _ in 0..<10 {
                let page = try await fetch(url, on: connection).json
                if let item = page["items"]?.array?.first(where: { $0["data"]?["sid"]?.string == message.id })
                {
                    return item
                }
                guard let next = page["meta"]?["next_token"]?.string, !next.isEmpty else { return nil }
                url = list.link.adding("PageToken", next)
            }
            return nil
        }
        let page = try await fetch(list.link.adding("Index", "\(index)"), on: connection).json
        return page["items"]?.array?.first { $0["data"]?["sid"]?.string == message.id }
    }
}

extension ListedChannel {
    fileprivate init(_ listing: ChannelListing, isJoined: Bool) {
        self.init(
            id: listing.sid, title: listing.title, uniqueName: listing.uniqueName, isJoined: isJoined)
    }
}
