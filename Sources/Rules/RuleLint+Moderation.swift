internal import Chat

/// What is allowed in rules that keep order, and probably not meant.
extension RuleLint {
    func checkModeration() {
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
}
