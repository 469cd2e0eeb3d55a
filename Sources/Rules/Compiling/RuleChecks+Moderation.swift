internal import Chat

/// Whether what keeps order can be done.
extension RuleChecks {
    func checkModeration() {
        for event in rule.modeEvents {
            compiler.usedNames.insert("mode \(event.mode.value)")
            compiler.check(mode: event.mode)
        }
        if !rule.when.isEmpty, let mode = rule.modeEvents.first {
            findings.error(
                "a mode stands alone", at: mode.mode.spot, hint: "make two rules of this one")
        }
        for step in rule.allSteps
        where step.verb == .confirm && !rule.steps.contains(where: { $0.path == step.path }) {
            findings.error(
                "\"confirm\" cannot stand in a branch", at: step.spot, hint: "put it before, under do:")
        }
        if let confirm = rule.steps.last, confirm.verb == .confirm {
            findings.error(
                "nothing is done when it is confirmed", at: confirm.spot, hint: "put actions behind it")
        }
        let breaker = rule.breaker
        if breaker.isWritten, breaker.time < .seconds(60) || breaker.time > .seconds(86_400) {
            findings.error("a breaker looks back for 1m to 1d", at: rule.id.spot)
        }
    }

    func checkDeed(_ step: BotStep) {
        for template in step.deed.templates { check(template) }
        for place in step.deed.places { compiler.check(channel: place) }
        switch step.verb {
        case .enterMode, .leaveMode: if let mode = step.deed.name { compiler.check(mode: mode) }
        case .permit:
            if step.deed.name == nil {
                findings.error(
                    "\"permit\" does not say for what", at: step.spot, hint: "add what: links",
                    code: .missingKey)
            }
        case .report:
            if step.message.to.isEmpty {
                findings.error(
                    "\"report\" does not say where", at: step.spot,
                    hint: "write defaults: {report_to: staff}, or add to: staff", code: .missingKey)
            }
        case .slowmode:
            if step.deed.time == nil {
                findings.error(
                    "\"slowmode\" does not say how slow", at: step.spot, hint: "write slowmode: 30s, or none",
                    code: .missingKey)
            }
        case .delete:
            if step.deed.isBurst, rule.condition?.value.asksForRate != true {
                findings.error(
                    "a burst is what a rate has counted, and this rule asks for none", at: step.spot,
                    hint: "add rate: under if:")
            }
        case .create: for guest in step.deed.guests { check(guest.value, at: guest.spot) }
        case .acl:
            for list in step.deed.policyLists { compiler.check(policyList: list) }
        case .each:
            guard let list = step.deed.list else { break }
            check(list.value, at: list.spot)
            if kind(of: list.value) != .list || list.value.root == "messages" || list.value.root == "message"
            {
                findings.error(
                    "\"\(list.value.text)\" is no list of users", at: list.spot, hint: "use rate.users")
            }
        default: break
        }
    }

    /// Whether a step is done for each of a list.
    func isInEach(_ step: BotStep) -> Bool {
        rule.allSteps.contains { outer in
            outer.verb == .each
                && outer.branches.flatMap(\.steps).flatMap(\.andBelow).contains { $0.path == step.path }
        }
    }
}

extension BotStep.Verb {
    /// It is about somebody, the event's own member if nobody is named.
    var isAboutMember: Bool {
        switch self {
        case .strike, .mute, .unmute, .kick, .ban, .unban, .permit, .invite: true
        default: false
        }
    }
}
