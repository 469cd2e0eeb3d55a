internal import Chat
internal import Unicode

extension Rule {
    /// What staff read: who did what where, and below it what the rule includes.
    func report(_ step: BotStep, _ acting: Acting, _ destination: Destination) -> String {
        let event = acting.event
        var head = step.message.text?.render(acting.values, for: destination) ?? ""
        if head.trimmed.isEmpty {
            head = source.about ?? id
            let name = event.member.map { destination.harmless($0.name) }
            let title = event.channel.map { destination.harmless($0.shownTitle) }
            let where_ = [name, title.map { "in \($0)" }].compactMap(\.self).joined(separator: " ")
            if !where_.isEmpty { head += "\n\(where_)" }
        }
        var lines = [head]
        let include = step.deed.include
        if include.contains(.matched), !acting.isOther, let fragment = acting.fragment() {
            lines.append("matched: \(destination.harmless(fragment.shortened))")
        }
        if include.contains(.history), let channel = event.channel {
            let own = event.message?.id
            let past = acting.situation.memory.history(of: channel.id).filter { $0.message?.id != own }
            for event in past.suffix(Self.reportedMessages) {
                guard let message = event.message else { continue }
                let line = "\(message.author.name): \(message.text.shortened)"
                lines.append(destination.quote(line))
            }
        }
        if include.contains(.message), let message = event.message {
            let name = destination.harmless(message.author.name)
            lines.append("\(name):\n\(destination.quote(message.text))")
        }
        if let first = acting.cases.first, let last = acting.cases.last {
            lines.append(acting.cases.count == 1 ? "case \(first)" : "cases \(first) to \(last)")
        }
        return lines.joined(separator: "\n")
    }

    /// How many messages before it a report shows.
    private static let reportedMessages = 10
}

extension Channel {
    var shownTitle: String { title.isEmpty ? uniqueName ?? id.text : title }
}
