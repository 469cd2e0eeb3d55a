internal import Chat

/// What is allowed in rules that keep order, and probably not meant.
extension RuleLint {
    func checkModeration() {
        for rule in files.flatMap(\.rules) { checkCall(of: rule) }
        for ladder in files.flatMap(\.ladders) where !used.contains("ladder \(ladder.name.value)") {
            findings.warn(
                "no rule gives strikes on the ladder \"\(ladder.name.value)\"", at: ladder.name.spot,
                hint: "write strike: {ladder: \(ladder.name.value)}, or remove it", code: .unusedName)
        }
        let steps = files.flatMap(\.rules).flatMap(\.allSteps)
        let entered = Set(steps.filter { $0.verb == .enterMode }.compactMap(\.deed.name?.value))
        for mode in files.flatMap(\.modes) where !mode.isDefault && !entered.contains(mode.name.value) {
            findings.warn(
                "no rule enters the mode \"\(mode.name.value)\"", at: mode.name.spot,
                hint: "write enter_mode: \(mode.name.value), or remove it", code: .unusedName)
        }
        let given = Set(steps.filter { $0.verb == .permit }.compactMap(\.deed.name?.value))
        for permit in askedPermits where !given.contains(permit.value) {
            findings.warn(
                "no rule gives the permit \"\(permit.value)\"", at: permit.spot,
                hint: Suggestion.hint(for: permit.value, among: given.sorted())
                    ?? "write permit: {what: \(permit.value)}", code: .unusedName)
        }
        for step in steps where step.deed.time == nil {
            if step.verb == .mute {
                findings.warn(
                    "this mute never ends", at: step.spot, hint: "write mute: 10m", code: .neverEnds)
            } else if step.verb == .lock, !steps.contains(where: { $0.verb == .unlock }) {
                findings.warn(
                    "this lock never ends, and no rule unlocks", at: step.spot, hint: "write lock: 10m",
                    code: .neverEnds)
            }
        }
    }

    /// Who may call what keeps order, and what calls it.
    private func checkCall(of rule: BotRule) {
        if let confirm = rule.allSteps.first(where: { $0.verb == .confirm }), rule.command == nil {
            findings.warn(
                "nobody calls this rule, so whoever happened to write is asked", at: confirm.spot,
                hint: "write when: {command: {name: \(rule.id.value)}}, or remove confirm", code: .style)
        }
        for step in rule.allSteps where step.verb == .undo {
            guard let name = step.deed.caseName, name.isFixed else { continue }
            findings.warn(
                "this undoes the same case each time", at: step.spot, hint: "write undo: \"{{ args.case }}\"",
                code: .style)
        }
        guard let command = rule.command, rule.run != .disabled,
            let step = rule.allSteps.first(where: { $0.verb.punishes && $0.deed.user != nil }),
            rule.condition?.value.asksWho != true
        else { return }
        findings.warn(
            "anybody may call \"\(command.name.value)\", which is to \(step.verb.rawValue) somebody",
            at: command.name.spot, hint: "add if: {user: {role: moderator}}", code: .anybodyPunishes)
    }
}

extension BotCondition {
    /// Whether not everybody's event fulfils it.
    fileprivate var asksWho: Bool {
        switch self {
        case .user: true
        case .all(let list), .any(let list): list.contains(where: \.asksWho)
        case .not(let inner): inner.asksWho
        default: false
        }
    }
}
