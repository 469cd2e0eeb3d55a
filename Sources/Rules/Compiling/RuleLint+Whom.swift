/// The short form of a punishment says why, how much or for how long, and never whom.
extension RuleLint {
    func checkWhom(_ rule: BotRule) {
        let people = Set(
            (rule.command?.arguments ?? []).filter { if case .person = $0.kind { true } else { false } }
                .map(\.name.value))
        guard !people.isEmpty else { return }
        for step in rule.steps.flatMap(\.andBelow) where step.deed.user == nil {
            guard let path = step.shortForm?.onlyPath, path.root == "args", let name = path.field,
                people.contains(name)
            else { continue }
            let verb = step.verb.rawValue
            findings.warn(
                "this \(verb) is about whoever calls the command, not about \"\(name)\"", at: step.spot,
                hint: "write \(verb): {user: \"{{ args.\(name) }}\"}", code: .takenLiterally)
        }
    }
}

extension BotStep {
    /// What is written right behind the name of a punishment.
    fileprivate var shortForm: Template? {
        switch (verb, deed.time) {
        case (.kick, _): deed.reason
        case (.strike, _): deed.points
        case (.mute, .made(let time)?), (.ban, .made(let time)?): time
        default: nil
        }
    }
}

extension Template {
    /// The value that is all of it.
    fileprivate var onlyPath: TemplatePath? {
        guard pieces.count == 1, case .value(let expression)? = pieces.first,
            case .path(let path) = expression.base
        else { return nil }
        return path
    }
}
