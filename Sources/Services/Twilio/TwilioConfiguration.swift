internal import JSON

/// Where things are, as the service tells each client after its log-in.
struct TwilioConfiguration: Sendable, Equatable {
    var identity: String
    /// The chat service, `IS…`.
    var service: String
    /// The name of the map of our own channels.
    var standings: String
    var myConversations: String
    var conversations: String
    var users: String
    var typing: String
    var media: String?

    /// Nil when something that is needed is missing; `token` says which chat service it is when the links do not.
    init?(_ json: JSON, token: AccessToken) {
        let links = json["links"]
        guard let identity = json["identity"]?.string ?? token.claims?.identity,
            let standings = json["sync_objects"]?["my_conversations"]?.string,
            let mine = links?["my_conversations"]?.string, let all = links?["conversations"]?.string,
            let users = links?["users"]?.string, let typing = links?["typing"]?.string,
            let service = Self.service(in: all) ?? token.claims?.service
        else { return nil }
        self.identity = identity
        self.service = service
        self.standings = standings
        myConversations = mine
        conversations = all
        self.users = users
        self.typing = typing
        media = links?["media_service"]?.string
    }

    /// The part of a link's path that names the chat service.
    private static func service(in link: String) -> String? {
        let parts = URLParts(link).path.split(separator: "/")
        guard let place = parts.firstIndex(of: "Services"), place + 1 < parts.count else { return nil }
        return String(parts[place + 1])
    }
}
