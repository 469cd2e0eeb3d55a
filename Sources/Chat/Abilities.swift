/// What a chat service can do, itself or through steward.
public struct Abilities: Sendable {
    /// The kinds of events it tells.
    public var events: Set<EventName>
    /// The actions it can carry out, by the names rules use; those not here are refused by `steward check`. `warn` is a
    /// reply and `relay` a send, so neither is named.
    public var actions: Set<String>
    /// The longest text of a message.
    public var textLimit: TextLimit
    /// How `{{ user.mention }}` is written.
    public var mention: Mention
    /// What must be escaped in people's text.
    public var markup: Markup
    /// What it can do beside sending the text; `steward check` warns of a wish that is not here.
    public var wishes: Set<Wish>

    public init(
        events: Set<EventName>, actions: Set<String>, textLimit: TextLimit, mention: Mention = .at,
        markup: Markup = .plain, wishes: Set<Wish> = Set(Wish.allCases)
    ) {
        self.events = events
        self.actions = actions
        self.textLimit = textLimit
        self.mention = mention
        self.markup = markup
        self.wishes = wishes
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

    /// What a message may ask for and is sent without where the service has no such thing.
    public enum Wish: String, Sendable, CaseIterable {
        /// In a thread of the message it answers.
        case thread
        /// Without a notification.
        case silent
        /// A notification for those who are mentioned.
        case mention
    }

    public enum Markup: Sendable { case plain, markdown, html }
}
