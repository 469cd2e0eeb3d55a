/// An entry of a ban list that communities share: somebody, or something, that is not wanted.
public struct Policy: Sendable, Codable, Equatable {
    /// What the entry is about.
    public enum Subject: String, Sendable, Codable { case user, server, channel }

    /// The list's name in `config.yaml`.
    public var list: String
    /// Whether it is about a person, a server or a channel.
    public var subject: Subject
    /// Who or what it is about, as the service calls them; `*` stands for any text, `?` for one character.
    public var entity: String
    /// Why, as whoever keeps the list says.
    public var reason: String?

    /// `entity` may hold `*` and `?`.
    public init(list: String, subject: Subject, entity: String, reason: String? = nil) {
        self.list = list
        self.subject = subject
        self.entity = entity
        self.reason = reason
    }

    /// Whether it is about one and not about all that look alike.
    public var isExact: Bool { !entity.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") } }
}
