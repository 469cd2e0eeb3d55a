internal import Chat

/// Ladders and modes: looked up, and put where rules use them.
extension RuleCompiler {
    func readModes() {
        var spots: [String: Spot] = [:]
        var calm: Placed<String>?
        for mode in files.flatMap(\.modes) {
            if let first = spots.updateValue(mode.name.spot, forKey: mode.name.value) {
                twice("mode", mode.name, first)
                continue
            }
            if mode.isDefault {
                if let calm {
                    findings.error(
                        "\"\(calm.value)\" is the default mode already", at: mode.name.spot,
                        code: .declaredTwice)
                }
                calm = mode.name
                continue
            }
            modes.names.append(mode.name.value)
            modes.clearsAfter[mode.name.value] = mode.clearsAfter
            for place in mode.announceTo { check(channel: place) }
            modes.announceTo[mode.name.value] = mode.announceTo.map(\.value)
        }
        if let calm { modes.calm = calm.value }
        for event in files.flatMap(\.rules).flatMap(\.modeEvents) {
            modes.awaited.insert("\(event.kind.rawValue) \(event.mode.value)")
        }
    }

    /// Which strikes are told to rules.
    func readStrikeEvents() {
        for file in files.indices {
            for rule in files[file].rules.indices {
                for index in files[file].rules[rule].strikeEvents.indices {
                    let event = files[file].rules[rule].strikeEvents[index]
                    let name = ladder(event.ladder, at: event.spot)
                    files[file].rules[rule].strikeEvents[index].ladder = name
                    if let name { modes.awaited.insert("strikes \(name.value)") }
                }
            }
        }
    }

    func readLadders() {
        var spots: [String: Spot] = [:]
        for file in files {
            for ladder in file.ladders {
                if let first = spots.updateValue(ladder.name.spot, forKey: ladder.name.value) {
                    twice("ladder", ladder.name, first)
                } else {
                    writtenLadders[ladder.name.value] = (ladder, file)
                    ladders[ladder.name.value] = Ladder(name: ladder.name.value, forgive: ladder.forgive)
                }
            }
        }
    }

    /// The file with the steps of ladders where strikes lead to them, and with places for its reports.
    func prepared(_ file: BotFile) -> BotFile {
        var file = file
        for index in file.rules.indices {
            file.rules[index].steps = file.rules[index].steps.map { prepared($0, in: file) }
        }
        return file
    }

    private func prepared(_ step: BotStep, in file: BotFile) -> BotStep {
        var step = step
        if step.verb == .report, step.message.to.isEmpty { step.message.to = file.reportTo }
        if step.verb == .strike {
            let name = ladder(step.deed.ladder, at: step.spot)
            step.deed.ladder = name
            if let name, let (ladder, home) = writtenLadders[name.value] {
                usedNames.insert("ladder \(name.value)")
                step.branches = ladder.steps.enumerated().map { index, rung in
                    let path = "\(step.path).\(name.value)[\(rung.points.value)]"
                    let steps = rung.steps.map { inner in
                        var inner = prepared(
                            inner.moved(from: "\(name.value)[\(index)]", to: path),
                            in: home.reportTo.isEmpty ? file : home)
                        inner.isOfLadder = true
                        return inner
                    }
                    return BotBranch(
                        steps: steps, spot: rung.points.spot, path: path, points: rung.points.value)
                }
            }
            return step
        }
        for branch in step.branches.indices {
            step.branches[branch].steps = step.branches[branch].steps.map { prepared($0, in: file) }
        }
        return step
    }

    /// The ladder of that name, or the only one there is.
    func ladder(_ name: Placed<String>?, at spot: Spot) -> Placed<String>? {
        if let name {
            if writtenLadders[name.value] != nil { return name }
            findings.error(
                "unknown ladder \"\(name.value.shortened)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: writtenLadders.keys.sorted())
                    ?? "declare it under ladders:", code: .unknownName)
            return nil
        }
        if writtenLadders.count == 1, let only = writtenLadders.keys.first { return Placed(only, at: spot) }
        if writtenLadders.isEmpty {
            findings.error(
                "there is no ladder for strikes", at: spot,
                hint: "declare one: ladders: {conduct: {steps: {3: [{mute: 1d}]}}}", code: .unknownName)
        } else {
            findings.error(
                "this does not say on which ladder", at: spot,
                hint: "write ladder: " + writtenLadders.keys.sorted().joined(separator: " or "))
        }
        return nil
    }

    func check(mode name: Placed<String>) {
        if modes.all.contains(name.value), !modes.names.isEmpty { return }
        findings.error(
            "unknown mode \"\(name.value.shortened)\"", at: name.spot,
            hint: Suggestion.hint(for: name.value, among: modes.names.isEmpty ? [] : modes.all)
                ?? "declare it under modes:", code: .unknownName)
    }

    func compile(_ written: BotModeTest) -> Condition {
        for name in written.modes + written.notModes {
            usedNames.insert("mode \(name.value)")
            check(mode: name)
        }
        checkSense(of: written, at: written.notModes.first?.spot)
        return .mode(
            ModeTest(
                modes: Set(written.modes.map(\.value)), notModes: Set(written.notModes.map(\.value)),
                calm: modes.calm))
    }

    /// What is asked of a user, with the ladder it is about.
    func userTest(_ user: BotUser) -> UserTest {
        for name in (user.permits ?? []) + (user.notPermits ?? []) { askedPermits.append(name) }
        guard let strikes = user.strikes else { return UserTest(user) }
        let name = ladder(strikes.ladder, at: strikes.spot)
        if let name { usedNames.insert("ladder \(name.value)") }
        if strikes.total == nil {
            findings.error(
                "\"strikes\" does not say how many", at: strikes.spot, hint: "write strikes: 3+",
                code: .missingKey)
        }
        return UserTest(user, ladder: name.flatMap { ladders[$0.value] })
    }
}
