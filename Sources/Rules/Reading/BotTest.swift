package import Chat

/// A scenario of a bot's file: who is there, what happens, and what must come of it.
package struct BotTest: Sendable {
    package var name: String
    /// The rule it stands in, of which alone it sees the actions; nil: it sees those of all rules.
    package var rule: String?
    package var place: Place
    package var given = Given()
    package var steps: [Step] = []

    /// Where something of a test stands in its file, both counted from 1.
    package struct Place: Sendable, Equatable, CustomStringConvertible {
        package var file: String
        package var line: Int
        package var column: Int

        package var description: String { "\(file):\(line):\(column)" }
    }

    /// What holds before the first step.
    package struct Given: Sendable {
        /// Nil: a day in June 2026, at noon UTC.
        package var now: Timestamp?
        package var people: [Person] = []
        /// What holds for everyone who is not among the people.
        package var everyone: Person?
        package var counters: [Count] = []
        /// Nil: the default one.
        package var mode: String?

        /// What a counter stands at.
        package struct Count: Sendable {
            package var counter: String
            /// The user or channel it is about; nil for a counter that is about all.
            package var subject: String?
            package var value: Int64
        }
    }

    /// Somebody, and what steward knows of them.
    package struct Person: Sendable {
        package var user: String
        package var name: String?
        package var roles: [String] = []
        package var isBot = false
        /// Nil: not seen before, unless something else here says so.
        package var isFirstTime: Bool?
        package var memberFor: Duration?
        package var away: Duration?
        package var messages: Int64?
        /// Points by ladder; the ladder is empty where there is only one.
        package var strikes: [String: Int64] = [:]
        package var permits: [String] = []

        package init(user: String) {
            self.user = user
        }
    }

    /// Something that happens, or a time to wait for, and what must have come of all since the last step that said so.
    package struct Step: Sendable {
        package var place: Place
        /// Since the start; nil: at once.
        package var at: Duration?
        package var happening: Happening?
        /// Who does it; nil: somebody.
        package var by: String?
        /// Where; nil: where the rule looks, else the first channel.
        package var channel: String?
        package var isBot = false
        package var attachments: [String] = []
        package var times = 1
        package var every = Duration.zero
        /// Nil: nothing is compared; empty: nothing may have come of it.
        package var expected: [Expectation]?

        package init(place: Place) {
            self.place = place
        }
    }

    package enum Happening: Sendable, Equatable {
        case say(String)
        /// The last message, or the last of that person, gets another text.
        case edit(String)
        /// The last message, or the last of that person, is removed.
        case remove
        case join, leave
        case rename(to: String)
        /// An emoji is put to the last message, or the last of that person, or taken away again.
        case react(String, of: String?, isAdded: Bool)
        /// A ban list has an entry more, or one less.
        case policy(Policy, isAdded: Bool)
        /// Time passes.
        case tick(Duration)
        /// Steward ends, is away for so long, and starts.
        case restart(Duration)
        /// The connection is lost for so long.
        case reconnect(Duration)
        /// A message that calls a command, without the prefix of its file.
        case command(String)
        /// So many messages that were written within that time arrive at once.
        case backlog(Int, within: Duration, String)
    }

    /// An action that must have come of the steps; all that is given must be so.
    package struct Expectation: Sendable {
        /// As rules call the action.
        package var verb: String
        package var place: Place
        /// What its text contains.
        package var text: String?
        package var channel: String?
        /// Who gets it, or whose message it is about.
        package var user: String?
        /// Exactly these are called.
        package var mentions: [String]?
        package var rule: String?
        package var isInThread: Bool?
        package var isSilent: Bool?
        /// For how long it is; 0 for a slow mode that ends.
        package var time: Duration?
        package var points: Int64?
        /// It is one of all messages of a burst.
        package var isBurst = false
        /// So often.
        package var times = 1
    }
}
