internal import Chat
internal import Matching
internal import Unicode

// Reads an event once: what is found in it, and the rules that makes worth asking.
extension RuleTurn {
    /// Counts an event of the past, about which nothing is done any more.
    mutating func recall(_ event: ChatEvent, _ name: EventName, _ situation: Situation, _ set: RuleSet) {
        rates.note(name, event, situation)
        if set.keepsRecent { recent.note(event) }
        let slate = slates.slate(event, name, set, situation)
        guard !slate.rateWindows.isEmpty else { return }
        forget()
        look = EventLook(event)
        figures.begin()
        reached.removeAll(keepingCapacity: true)
        rates.count(event, name, look, &figures, situation, slate.rateWindows, set, reached: &reached)
    }

    /// Reads an event of before anew, for what is left to do about it.
    mutating func reread(_ event: ChatEvent, _ name: EventName, _ situation: Situation, _ set: RuleSet) {
        let slate = slates.slate(event, name, set, situation)
        forget()
        _ = scan(event, name, situation, slate, .guard, set)
    }

    /// The next stage reads its event itself.
    mutating func forget() {
        lastSlate = nil
        isDone = false
    }

    /// Looks at what is no service's event: nothing is found in it but the rates that a rule asks for.
    mutating func lookAt(_ event: ChatEvent, _ rule: Rule, _ situation: Situation, _ set: RuleSet) {
        forget()
        look = EventLook(event)
        beginScan()
        if !set.windows.isEmpty { lookAtWindows(situation.now, set) }
        let windows = set.rateWindowsOfRules[rule.number]
        guard !windows.isEmpty else { return }
        reached.removeAll(keepingCapacity: true)
        rates.count(event, .started, look, &figures, situation, windows, set, reached: &reached)
        for probe in reached where !candidates.isFound(probe) { candidates.note(probe, set) }
    }

    mutating func scan(
        _ event: ChatEvent, _ name: EventName, _ situation: Situation, _ slate: Slate, _ stage: Stage,
        _ set: RuleSet
    ) -> Bool {
        let isSame =
            stage.rawValue > lastStage.rawValue && lastSlate === slate && look.isOf(event)
        lastStage = stage
        if isSame {
            time.goOn()
            return false
        }
        if lastSlate !== slate { lastSlate = slate }
        let look = EventLook(event)
        let text = look.text
        beginScan()
        if let text { time.begin(text) }
        for place in slate.lanes.indices {
            let number = slate.lanes[place]
            if time.isOver {
                unread.insert(number)
                continue
            }
            lanes[number].deadline = time.deadline
            let lane = set.lanes[number]
            switch lane.name.field {
            case .body: if let text { read(text, look.marks, lane, number, set) }
            case .userName: if let name = look.name { read(name, lane, number, set) }
            default: for text in lane.name.field.texts(event) { read(text, lane, number, set) }
            }
        }
        if !set.windows.isEmpty { lookAtWindows(event.sentAt, set) }
        for place in slate.measures.indices {
            let (measure, lowest) = slate.measures[place]
            guard let value = figures.take(measure, text, event, look, situation, lowest: lowest) else {
                continue
            }
            if let lowest, value < lowest { continue }
            takeCandidates(by: measure, value, set)
        }
        if slate.asksForHosts, look.marks.has(.dots) {
            for link in figures.links(of: look) {
                for domain in link.domains {
                    for probe in set.hosts[String(domain)] ?? [] where !candidates.isFound(probe) {
                        candidates.note(probe, set)
                    }
                }
            }
        }
        if !set.commands.isEmpty, let text, name.number == EventName.messageAdded.number {
            call = set.commands.call(in: text)
            if let call { candidates.add(contentsOf: set.commands.rules(for: call)) }
        }
        if !slate.rateWindows.isEmpty {
            reached.removeAll(keepingCapacity: true)
            rates.count(
                event, name, look, &figures, situation, slate.rateWindows, set, reached: &reached)
            for probe in reached where !candidates.isFound(probe) { candidates.note(probe, set) }
        }
        candidates.sort()
        // Last, so that it is handed over and not copied.
        self.look = look
        return true
    }

    /// Reads one text as if each of the lanes' fields had it.
    mutating func scan(_ text: String, _ lanes: [Int], _ set: RuleSet) {
        forget()
        look = EventLook()
        beginScan()
        for number in lanes { read(text, set.lanes[number], number, set) }
    }

    private mutating func beginScan() {
        figures.begin()
        candidates.begin()
        if call != nil { call = nil }
        if time.deadline != nil {
            time.begin()
            unread = []
        }
    }

    mutating func lookAtWindows(_ moment: Timestamp, _ set: RuleSet) {
        if windows.count < set.windows.count {
            windows = [WindowState](repeating: WindowState(), count: set.windows.count)
        }
        for index in set.windows.indices { windows[index].look(set.windows[index].window, at: moment) }
    }

    /// Makes candidates of the rules whose threshold the event reaches.
    private mutating func takeCandidates(by measure: Measure, _ value: Int64, _ set: RuleSet) {
        let thresholds = set.thresholds[measure.rawValue]
        for threshold in thresholds.least {
            if threshold.value > value { break }
            candidates.add(threshold.rule)
        }
        for threshold in thresholds.most {
            if threshold.value < value { break }
            candidates.add(threshold.rule)
        }
    }

    private mutating func read(_ text: String, _ lane: Lane, _ number: Int, _ set: RuleSet) {
        read(text, TextMarks(of: text), lane, number, set)
    }

    private mutating func read(
        _ text: String, _ marks: TextMarks, _ lane: Lane, _ number: Int, _ set: RuleSet
    ) {
        lanes[number].read(text, marks, lane)
        if !lanes[number].isComplete { unread.insert(number) }
        if lanes[number].scan.hits.isEmpty, lanes[number].scan.regexes.isEmpty { return }
        for hit in lanes[number].scan.hits {
            for index in Int(lane.firstTarget[hit.phrase])..<Int(lane.firstTarget[hit.phrase + 1]) {
                let target = lane.targets[index]
                guard !candidates.isFound(target.probe) else { continue }
                if target.anchor == .none || lanes[number].stands(hit.range, target.anchor) {
                    candidates.note(target.probe, set)
                    if set.probes[Int(target.probe)].kind == .near { lanes[number].takeWords() }
                }
            }
        }
        for regex in lanes[number].scan.regexes {
            for probe in lane.regexProbes[regex] where !candidates.isFound(probe) {
                candidates.note(probe, set)
            }
        }
    }
}

// What was read.
extension RuleTurn {
    /// What is counted of the event.
    func figure(_ measure: Measure, _ event: ChatEvent, _ situation: Situation) -> Int64? {
        figures.value(of: measure, event, look, situation)
    }

    func links(spelledOut: Bool) -> [Link] { figures.links(of: look, spelledOut: spelledOut) }

    /// What a rate counts now.
    func entries(of test: RateTest, _ event: ChatEvent, _ set: RuleSet) -> [RateEntry] {
        rates.entries(of: test, event, look, set)
    }

    var caps: Caps? { figures.caps(of: look) }

    func isFound(_ probe: Int32) -> Bool { candidates.isFound(probe) }

    func state(of lane: Int) -> LaneState { lanes[lane] }

    /// Whether the window is open at the event's time.
    func isOpen(_ window: Int) -> Bool { windows.indices.contains(window) && windows[window].isOpen }
}
