internal import Chat
internal import Matching
internal import Unicode

/// What templates print of an event.
extension RuleTurn {
    /// The words that are near what is looked for.
    func nearMatch(_ test: NearTest, _ event: ChatEvent, _ set: RuleSet) -> String? {
        for lane in test.lanes {
            let isOne = set.lanes[lane].name.field.isOne
            let texts = isOne ? [] : folded(lane, event, set).map { LaneState.words(of: $0) }
            for words in isOne ? [state(of: lane).words] : texts {
                if let match = test.match(words) { return match.map(\.text).joined(separator: " ") }
            }
        }
        return nil
    }

    /// The folded texts of a lane.
    private func folded(_ lane: Int, _ event: ChatEvent, _ set: RuleSet) -> [[UInt8]] {
        let name = set.lanes[lane].name
        if name.field.isOne {
            return name.field.texts(event).isEmpty ? [] : [state(of: lane).folded.bytes]
        }
        return name.field.texts(event).map { FoldedText($0, to: name.level).bytes }
    }

    /// The named groups of the first of the rule's expressions that matches.
    func groups(of rule: Rule, _ event: ChatEvent, _ set: RuleSet) -> [String: String] {
        for probe in rule.regexProbes where isFound(probe) {
            let probe = set.probes[Int(probe)]
            for lane in probe.lanes {
                let isOne = set.lanes[lane].name.field.isOne
                let texts =
                    probe.seesFolded
                    ? folded(lane, event, set).map { String(decoding: $0, as: UTF8.self) }
                    : isOne ? [state(of: lane).text] : set.lanes[lane].name.field.texts(event)
                for text in texts {
                    for regex in probe.regexes {
                        if let groups = regex.groups(in: text) { return groups }
                    }
                }
            }
        }
        return [:]
    }

    /// How many of those whom the text calls were seen before.
    func members(_ event: ChatEvent, _ situation: Situation) -> Int64 {
        let names = look.text.map { MentionFinder.names(in: $0) } ?? []
        return Int64(names.count { People.find($0, event, situation.memory) != nil })
    }

    /// What the templates of a rule can print.
    func values(
        of rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> TemplateValues {
        var values = TemplateValues(event: event, situation: situation, vars: rule.vars)
        values.counters = rule.counters
        values.ladders = rule.ladders
        values.calm = rule.modes.calm
        if rule.wantsWindow { values.window = OpenSpan(rule.windows, at: event.sentAt) }
        if let tests = rule.condition?.policies, !tests.isEmpty {
            values.policy = tests.lazy.compactMap { $0.match(event, situation) }.first
        }
        if rule.wantsGroups { values.groups = groups(of: rule, event, set) }
        if rule.wantsRate, let test = rule.condition?.rates.first(where: { isFound($0.probe) }) {
            values.rate = RateValues(entries(of: test, event, set), distinct: test.rate.distinct)
        }
        if let call, let command = rule.command {
            values.arguments = command.read(call, event, situation).values
        }
        for variable in rule.source.vars {
            values.locals[variable.name.value] = variable.template.value(values)
        }
        return values
    }

    /// Whether what was written behind a command is what it takes.
    func fits(_ rule: Rule, _ event: ChatEvent, _ situation: Situation) -> Bool {
        guard let call, let command = rule.command else { return false }
        return command.read(call, event, situation).fits
    }
}
