internal import Chat
internal import Unicode

// A message is still there although a rule wanted it deleted, or somebody is not muted: people should know.
extension RuleTurn {
    /// Tells staff at once; of more in the same channel within a minute once.
    func undeleted(
        _ continuation: Continuation, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Decision {
        var decision = Decision()
        guard let name = continuation.values["rule"], let rule = set.rule(owner: name),
            let why = continuation.values["why"], let place = continuation.place
        else { return decision }
        let isMute = continuation.step == Undeleted.mute
        let key = MemoryKey(
            owner: rule.id, name: "\(isMute ? "unmuted" : "undeleted") \(place)", subject: .all)
        guard situation.memory.value(of: key) == nil else { return decision }
        let title = event.channel?.shownTitle ?? place.channel
        let own = continuation.values["case"].map { ", case \($0)" } ?? ""
        let places = rule.placesOfReports(orElse: continuation.values["to"], near: place, situation)
        for (number, to) in places.enumerated() {
            let abilities = situation.directory.accounts[to.account]?.abilities ?? situation.abilities
            let destination = Destination(markup: abilities.markup)
            let author = continuation.values["author"].map { destination.harmless($0) }
            let (there, reason) = (
                destination.harmless(title), destination.harmless(why.shortened(to: isMute ? 160 : 60))
            )
            let text: String
            if isMute {
                let instead =
                    continuation.values["deletes"] == nil ? "" : "; what they write is deleted instead"
                text =
                    "⚠️ \(author ?? "Somebody") could not be muted in \(there): \(reason)\(instead) "
                    + "(rule \"\(rule.id)\"\(own))."
            } else {
                text =
                    "⚠️ A message\(author.map { " of \($0)" } ?? "") in \(there) is still there, for it could "
                    + "not be deleted: \(reason) (rule \"\(rule.id)\"\(own))."
            }
            decision.actions.append(
                ChatAction(.send(Outgoing(text)), in: to, by: rule.id, path: "undeleted.to[\(number)]"))
        }
        guard !decision.actions.isEmpty else { return decision }
        decision.changes = [.claim(key, at: situation.now, most: 1, keep: .seconds(60))]
        return decision
    }
}

extension Rule {
    /// Where the rule's reports go, else where the file's do, else where all do.
    func placesOfReports(
        orElse name: String?, near place: Place, _ situation: Situation
    ) -> [Place] {
        let own = source.allSteps.filter { $0.verb == .report }.flatMap { $0.message.to.map(\.value) }
        let names = own.isEmpty ? reportTo : own
        if !names.isEmpty { return names.flatMap(situation.directory.places).unique }
        let all = name.map(situation.directory.places) ?? []
        let near = all.filter { $0.account == place.account }
        return near.isEmpty ? all : near
    }
}
