internal import Chat

/// Notices when a program answers our answer to a program: of three messages that answer each other none is a person's
/// then, and the third gets no answer.
///
/// It knows of messages of programs that we answered, and of those answers; nothing is kept of others.
struct ReplyChains: Sendable {
    private struct Key: Hashable {
        let channel: UInt32
        let message: String
    }

    /// What programs wrote and we answered.
    private var answered: Set<Key> = []
    /// Our answers.
    private var answers: Set<Key> = []
    /// A chain that is forgotten costs one more answer.
    private static let most = 4096

    var isEmpty: Bool { answers.isEmpty }

    mutating func answered(_ event: ChatEvent) {
        guard case .messageAdded(let message) = event.kind, message.author.isBot, let channel = event.channel
        else { return }
        if answered.count >= Self.most { answered = [] }
        answered.insert(Key(channel: channel.id.identity.number, message: message.id))
    }

    /// One of our own messages came back.
    mutating func heardOurselves(_ message: Message, in channel: ChannelID) {
        guard !answered.isEmpty, let parent = message.replyTo,
            answered.contains(Key(channel: channel.identity.number, message: parent))
        else { return }
        if answers.count >= Self.most { answers = [] }
        answers.insert(Key(channel: channel.identity.number, message: message.id))
    }

    /// Whether the event is a program's answer to one of them.
    func holdNoHuman(_ event: ChatEvent) -> Bool {
        guard case .messageAdded(let message) = event.kind, message.author.isBot,
            let parent = message.replyTo, let channel = event.channel
        else { return false }
        return answers.contains(Key(channel: channel.id.identity.number, message: parent))
    }

    /// Takes the answers out of a decision about such an event.
    func drop(from decision: inout Decision, _ event: ChatEvent) {
        let isAnswer = { (action: ChatAction) in action.isTalk && action.place == event.place }
        let silent = Set(decision.actions.lazy.filter(isAnswer).map(\.by)).sorted()
        let before = decision.actions.count
        decision.actions.removeAll(where: isAnswer)
        decision.answers = max(0, decision.answers - (before - decision.actions.count))
        for rule in silent {
            decision.notes.append(
                Decision.Note(by: rule, "no answer: the last three who answered each other are programs"))
        }
    }
}
