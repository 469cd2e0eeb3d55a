/// What a chat service can do, itself or through steward.
public struct Abilities: Sendable {
    private struct Values: Sendable {
        var events: Set<EventName>
        var actions: Set<String>
        var textLimit: TextLimit
        var mention: Mention
        var markup: Markup
        var wishes: Set<Wish>
    }

    private var shared: Shared<Values>

    /// `events`: what it tells. `actions`: what it carries out, by the names that rules use.
    public init(
        events: Set<EventName>, actions: Set<String>, textLimit: TextLimit, mention: Mention = .at,
        markup: Markup = .plain, wishes: Set<Wish> = Set(Wish.allCases)
    ) {
        shared = Shared(
            Values(
                events: events, actions: actions, textLimit: textLimit, mention: mention, markup: markup,
                wishes: wishes))
    }

    /// The kinds of events it tells.
    public var events: Set<EventName> {
        get { shared.value.events }
        set { shared.value.events = newValue }
    }

    /// The actions it can carry out, by the names rules use; those not here are refused by `steward check`. `warn` is a
    /// reply and `relay` a send, so neither is named.
    public var actions: Set<String> {
        get { shared.value.actions }
        set { shared.value.actions = newValue }
    }

    /// Whether an action of rules can be carried out, by the service or by steward in its place: who is muted is
    /// silenced by deleting what they write, who is banned is removed again.
    public func offers(_ action: String) -> Bool {
        if actions.contains(action) { return true }
        return switch action {
        case "mute", "unmute", "slowmode", "lock", "unlock": actions.contains("delete")
        case "ban", "unban": actions.contains("kick")
        default: false
        }
    }

    /// The longest text of a message.
    public var textLimit: TextLimit {
        get { shared.value.textLimit }
        set { shared.value.textLimit = newValue }
    }

    /// How `{{ user.mention }}` is written.
    public var mention: Mention {
        get { shared.value.mention }
        set { shared.value.mention = newValue }
    }

    /// What must be escaped in people's text.
    public var markup: Markup {
        get { shared.value.markup }
        set { shared.value.markup = newValue }
    }

    /// What it can do beside sending the text; `steward check` warns of a wish that is not here.
    public var wishes: Set<Wish> {
        get { shared.value.wishes }
        set { shared.value.wishes = newValue }
    }

    /// Whether both are one and the same, not only alike.
    package func isSame(as other: Abilities) -> Bool { shared.isSame(as: other.shared) }

    /// How long the text of one message may be. What rules say is split into several messages; a longer text of a plugin's
    /// is the service's to refuse.
    public struct TextLimit: Sendable, Equatable {
        /// So many units are the most that fits.
        public var count: Int
        /// What is counted.
        public var unit: Unit

        /// Such as `.init(4096, .codePoints)`.
        public init(_ count: Int, _ unit: Unit) {
            self.count = count
            self.unit = unit
        }

        /// How a service counts.
        public enum Unit: Sendable {
            /// Of UTF-8.
            case bytes
            /// Unicode's: one for `é`, two or more for most flags and families.
            case codePoints
            /// Units of UTF-16, as JavaScript and Java count: two for an emoji.
            case utf16
        }
    }

    /// How a person is called in a text. Whom it notifies is said by `Outgoing.mentions` alone.
    public enum Mention: Sendable {
        /// `@` and the name that people see.
        case at
    }

    /// What a message may ask for and is sent without where the service has no such thing.
    public enum Wish: String, Sendable, CaseIterable {
        /// In a thread of the message it answers.
        case thread
        /// Without a notification.
        case silent
        /// A notification for those who are mentioned.
        case mention
    }

    /// How a service reads the text of a message, and so what steward escapes in what people wrote or are called.
    public enum Markup: Sendable {
        /// As it stands: nothing is escaped.
        case plain
        /// Markdown: its signs get a backslash.
        case markdown
        /// HTML: `&`, `<`, `>` and `"` become entities.
        case html
    }
}
