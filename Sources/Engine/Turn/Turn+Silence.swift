internal import Chat

extension Turn {
    /// The path of what staff are told of silent rules: no rule's doing.
    package static let silencePath = "silent"

    /// Staff are told of a rule that has become silent.
    mutating func tellOfSilence(_ progress: inout Progress, _ event: ChatEvent) {
        let news = progress.outcome.silenced.filter(\.isNews)
        guard !news.isEmpty, let name = limits.reportTo, let silence = limits.loops?.silence else { return }
        let places = progress.situation.directory.places(named: name, near: event.account)
        var decision = Decision()
        for silenced in news {
            let text =
                "⚠️ \"\(silenced.rule)\" is silent towards \(silenced.sender) for \(silence.inShort): "
                + "\(silenced.why). It looked like two programs that answer each other."
            for place in places {
                decision.actions.append(
                    ChatAction(
                        .send(Outgoing(text)), in: place, by: Punishment.owner, path: Self.silencePath))
            }
        }
        record(decision, [:], &progress, event)
    }
}

extension Directory {
    /// Where a name points to in the account, or everywhere when it means nothing there.
    func places(named name: String, near account: String) -> [Place] {
        let places = places(named: name)
        let near = places.filter { $0.account == account }
        return near.isEmpty ? places : near
    }
}
