/// What a chat service can do, itself or through steward.
public struct Abilities: Sendable {
    /// The kinds of events it tells.
    public var events: Set<EventName>
    /// The actions it can carry out, by the names rules use; those not here are refused by `steward check`.
    public var actions: Set<String>
    /// The longest text of a message.
    public var textLimit: TextLimit
    /// How `{{ user.mention }}` is written.
    public var mention: Mention
    /// What must be escaped in people's text.
    public var markup: Markup

    public init(
        events: Set<EventName>, actions: Set<String>, textLimit: TextLimit, mention: Mention = .at,
        markup: Markup = .plain
    ) {
        self.events = events
        self.actions = actions
        self.textLimit = textLimit
        self.mention = mention
        self.markup = markup
    }

    public struct TextLimit: Sendable, Equatable {
        public var count: Int
        public var unit: Unit

        public init(_ count: Int, _ unit: Unit) {
            self.count = count
            self.unit = unit
        }

        public enum Unit: Sendable { case bytes, codePoints, utf16 }
    }

    public enum Mention: Sendable { case at }

    public enum Markup: Sendable { case plain, markdown, html }
}
