internal import Chat
internal import YAML

extension RuleTurn {
    /// The commands that the event's member may use here, a line each; or one of them, if the message names it.
    func help(_ help: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet) -> String {
        let usable = set.rules.filter { rule in
            guard let command = rule.command, command.prefix == help.command?.prefix, !rule.isHelp else {
                return false
            }
            return rule.source.run == .live
                && set.scopes[rule.scope].contains(event.channel, account: event.account, situation.directory)
                && rule.condition.map { mayHold($0, rule, event, situation, set) } != false
        }
        let asked = call.flatMap { help.command?.read($0, event, situation).values["command"] }
        if let word = asked?.plain.lowercased(), !word.isEmpty {
            let prefix = help.command?.prefix ?? ""
            let name = word.hasPrefix(prefix) ? word.dropFirst(prefix.count) : word[...]
            if let rule = usable.first(where: { $0.command?.words.contains(String(name)) == true }) {
                return [rule.line, rule.command?.usage].compactMap(\.self).joined(separator: "\n")
            }
        }
        return usable.isEmpty
            ? "There are no commands for you here." : usable.map(\.line).joined(separator: "\n")
    }

    /// Whether a condition may hold for the member, whatever they write; nil when that depends on what they write.
    private func mayHold(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool? {
        switch condition {
        case .user(let test):
            return test.isNot == nil ? holds(condition, rule, event, situation, set) : nil
        case .time, .mode: return holds(condition, rule, event, situation, set)
        case .all(let list):
            let answers = list.map { mayHold($0, rule, event, situation, set) }
            return answers.contains(false) ? false : answers.contains(nil) ? nil : true
        case .any(let list):
            let answers = list.map { mayHold($0, rule, event, situation, set) }
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        case .not(let inner): return mayHold(inner, rule, event, situation, set).map { !$0 }
        default: return nil
        }
    }
}

extension Rule {
    /// Its line in the list of commands.
    fileprivate var line: String {
        let form = command?.form ?? id
        return source.about.map { "\(form) - \($0)" } ?? form
    }

    /// The rule that lists the commands with a prefix, unless the files have one of their own.
    static func help(prefix: String, number: Int, scope: Int) -> RuleDraft {
        let spot = Spot(file: "steward", place: .start)
        var source = BotRule(id: Placed("\(prefix)help", at: spot))
        source.about = "Lists the commands that you may use here."
        source.when = [Placed(.messageAdded, at: spot)]
        var command = BotCommand(name: Placed("help", at: spot))
        command.arguments = [
            BotArgument(name: Placed("command", at: spot), kind: .word(nil), isOptional: true)
        ]
        source.command = command
        var file = BotFile(name: "steward")
        file.commands.prefix = prefix
        file.commands.wrongArguments = .silent
        var draft = RuleDraft(source: source, file: file, number: number, stage: .answer)
        draft.scope = scope
        draft.isHelp = true
        return draft
    }
}
