internal import Chat

extension Rule {
    /// Enters or leaves a mode. A mode does not give way to one that is declared before it.
    func changeMode(_ step: BotStep, _ acting: Acting, into decision: inout Decision) {
        let now = acting.situation.now
        let current = Mode(decision.value(of: Mode.key, acting.situation))
        let wanted = step.deed.name?.value
        if step.verb == .leaveMode || wanted == modes.calm {
            guard let current, wanted == nil || wanted == modes.calm || wanted == current.name else { return }
            modes.leave(current, by: id, at: now, acting.situation, into: &decision)
            return
        }
        guard let wanted, modes.gives(current?.name ?? modes.calm, wayTo: wanted) else { return }
        let clears = modes.clearsAfter[wanted]
        if let current, current.name == wanted {
            // It lasts longer, but is not put off with each message of a raid.
            guard let clears, now - current.since > clears / 10 else { return }
        }
        var mode = Mode(name: wanted, since: now, by: id, place: acting.event.place)
        if let current, current.name == wanted { mode.place = current.place }
        decision.changes.append(.set(Mode.key, .text(mode.text), keep: nil))
        if let clears {
            var end = Continuation(
                owner: Mode.owner, step: "clear",
                values: ["mode": wanted, "since": "\(now.milliseconds)"], due: now + clears)
            end.place = mode.place
            decision.later.append(end)
        }
        guard current?.name != wanted else { return }
        if let current { modes.tellLeft(current, at: now, acting.situation, into: &decision) }
        modes.tell("entered", mode, at: now, into: &decision)
        let time = clears.map { ", for \($0.words) at least" } ?? ""
        modes.announce(mode, "Mode \"\(wanted)\" begins (\(id))\(time).", by: id, acting.situation, &decision)
    }

    /// Remembers what was locked in a mode by its own rules, so that it can be unlocked when the mode is over.
    func noteLocks(_ places: [Place], _ acting: Acting, into decision: inout Decision) {
        guard !ownModes.isEmpty, !places.isEmpty,
            let current = Mode(decision.value(of: Mode.key, acting.situation)),
            ownModes.contains(current.name)
        else { return }
        let before = Mode.places(decision.value(of: Mode.lockedKey, acting.situation))
        let after = (before + places).unique
        guard after != before else { return }
        decision.changes.append(.set(Mode.lockedKey, .text(Mode.text(of: after)), keep: nil))
    }
}

extension Decision {
    /// What will be remembered with it, as it stands.
    fileprivate func value(of key: MemoryKey, _ situation: Situation) -> MemoryValue? {
        for change in changes.reversed() {
            switch change {
            case .set(key, let value, _): return value
            case .forget(key): return nil
            default: break
            }
        }
        return situation.memory.value(of: key)
    }
}

extension Modes {
    func leave(
        _ mode: Mode, by rule: String, at now: Timestamp, _ situation: Situation,
        into decision: inout Decision
    ) {
        decision.changes.append(.forget(Mode.key))
        tellLeft(mode, at: now, situation, into: &decision)
        tell("entered", Mode(name: calm, since: now, by: rule, place: mode.place), at: now, into: &decision)
        announce(mode, "Mode \"\(mode.name)\" is over (\(rule)).", by: rule, situation, &decision)
    }

    fileprivate func tellLeft(
        _ mode: Mode, at now: Timestamp, _ situation: Situation, into decision: inout Decision
    ) {
        var locked: String?
        if case .text(let text)? = decision.value(of: Mode.lockedKey, situation) {
            locked = text
            decision.changes.append(.forget(Mode.lockedKey))
        }
        tell("left", mode, locked: locked, at: now, into: &decision)
    }

    /// Tells rules that wait for it.
    fileprivate func tell(
        _ what: String, _ mode: Mode, locked: String? = nil, at now: Timestamp, into decision: inout Decision
    ) {
        guard awaited.contains("\(what) \(mode.name)") else { return }
        var event = Continuation(owner: Mode.owner, step: what, values: ["mode": mode.name], due: now)
        event.values["locked"] = locked
        event.place = mode.place
        decision.later.append(event)
    }

    fileprivate func announce(
        _ mode: Mode, _ text: String, by rule: String, _ situation: Situation,
        _ decision: inout Decision
    ) {
        let places = (announceTo[mode.name] ?? []).flatMap(situation.directory.places).unique
        for (number, place) in places.enumerated() {
            decision.actions.append(
                ChatAction(
                    .send(Outgoing(text)), in: place, by: rule, path: "mode.\(mode.name).announce[\(number)]")
            )
        }
    }
}
