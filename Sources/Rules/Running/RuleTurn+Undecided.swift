internal import Chat

/// What becomes of rules for which there was no time: nothing is done, and that is told.
extension RuleTurn {
    /// How long staff are not told the same of a rule again.
    private static let pause = Duration.seconds(600)

    func tellOfUndecided(
        _ rules: [Rule], _ event: ChatEvent, _ situation: Situation, _ decision: inout Decision
    ) {
        guard let text = look.text else { return }
        for rule in rules {
            let words =
                "could not be decided: a text of \(text.utf8.count) bytes was too long to look through in time"
            decision.notes.append(Decision.Note(by: rule.id, words, isWarning: true))
        }
        // What is not answered hurts nobody.
        guard let place = event.place else { return }
        let untold = rules.filter { $0.stage == .guard && situation.memory.value(of: $0.undecidedKey) == nil }
        guard let first = untold.first else { return }
        let names = TemplateValue.series(untold.map { "\"\($0.id)\"" })
        let places = untold.flatMap { $0.placesOfReports(orElse: nil, near: place, situation) }.unique
        for (number, to) in places.enumerated() {
            let abilities = situation.directory.accounts[to.account]?.abilities ?? situation.abilities
            let destination = Destination(markup: abilities.markup)
            let who = destination.harmless(event.member?.name ?? "somebody")
            let channel = destination.harmless(event.channel?.shownTitle ?? place.channel)
            let told =
                "⚠️ A message by \(who) in \(channel) was too long to look through in time: "
                + "\(names) could not be decided, so look at it."
            decision.actions.append(
                ChatAction(.send(Outgoing(told)), in: to, by: first.id, path: "undecided.to[\(number)]"))
        }
        for rule in untold {
            decision.changes.append(
                .set(rule.undecidedKey, .number(situation.now.milliseconds), keep: Self.pause))
        }
    }
}

extension Rule {
    fileprivate var undecidedKey: MemoryKey { MemoryKey(owner: id, name: "undecided", subject: .all) }
}
