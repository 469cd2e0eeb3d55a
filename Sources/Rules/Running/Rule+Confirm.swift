internal import Chat
internal import Unicode

/// What a rule does once somebody has said yes to it.
enum Confirmation {
    case yes, no

    /// Nil for a text that is neither; a long one costs nothing.
    init?(_ text: String) {
        guard text.utf8.count <= 16 else { return nil }
        var word = text.trimmed.lowercased()
        while let last = word.last, "!.".contains(last) { word.removeLast() }
        if word.hasPrefix("!") { word.removeFirst() }
        switch word {
        case "yes", "y", "ok", "confirm", "👍", "✅": self = .yes
        case "no", "n", "cancel", "stop", "👎": self = .no
        default: return nil
        }
    }

    /// Where it is kept that an answer is waited for.
    static func key(_ rule: String, _ event: ChatEvent) -> MemoryKey? {
        guard let member = event.member, let channel = event.channel else { return nil }
        return MemoryKey(owner: rule, name: "confirm \(channel.id.text)", subject: .user(member.user))
    }
}

extension Rule {
    /// Asks, and leaves the rest until there is an answer.
    func confirm(_ step: BotStep, _ acting: Acting, into decision: inout Decision) -> Bool {
        guard let key = Confirmation.key(id, acting.event), let place = acting.event.place,
            let index = source.steps.firstIndex(where: { $0.path == step.path })
        else { return true }
        let reference = acting.event.message.map { MessageReference($0) }
        let end = " Answer yes within \(step.deed.within.words)."
        decision.actions += speech(step, acting.event, acting.situation, acting.values, [place]) { outgoing in
            var outgoing = outgoing
            outgoing.text += end
            return reference.map { .reply(outgoing, to: $0) } ?? .send(outgoing)
        }
        let pending = Batch(number: Int64(index), due: acting.situation.now + step.deed.within)
        decision.changes.append(.set(key, .text(pending.text(with: acting.event)), keep: step.deed.within))
        return true
    }
}
