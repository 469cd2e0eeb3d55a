internal import Zones

/// Windows: read, checked, and put where their names stand.
extension RuleCompiler {
    func readWindows() {
        var spots: [String: Spot] = [:]
        for window in files.flatMap(\.windows) {
            if let first = spots.updateValue(window.name.spot, forKey: window.name.value) {
                twice("window", window.name, first)
                continue
            }
            windowNumbers[window.name.value] = windows.count
            let days = read(window.days, Days.all) { (texts: [String]) throws(ZoneError) in try Days(texts) }
            let between = read(window.between, TimeRange.wholeDay) { (text: String) throws(ZoneError) in
                try TimeRange(text)
            }
            let zone = read(window.zone, TimeZone.utc) { (name: String) throws(ZoneError) in
                try TimeZone(named: name)
            }
            windows.append(
                NamedWindow(
                    name: window.name.value,
                    window: WeeklyWindow(days: days, between: between, zone: zone)))
        }
    }

    private func read<Written, Value>(
        _ written: Placed<Written>?, _ usual: Value, _ read: (Written) throws(ZoneError) -> Value
    ) -> Value {
        guard let written else { return usual }
        do throws(ZoneError) {
            return try read(written.value)
        } catch {
            findings.error(error.problem, at: written.spot, hint: error.hint)
            return usual
        }
    }

    func compile(_ time: BotTime) -> Condition {
        func numbers(_ names: [Placed<String>]) -> [Int] {
            names.compactMap { name in
                usedNames.insert("window \(name.value)")
                if let number = windowNumbers[name.value] { return number }
                findings.error(
                    "unknown window \"\(name.value.shortened)\"", at: name.spot,
                    hint: Suggestion.hint(for: name.value, among: windowNumbers.keys.sorted())
                        ?? "declare it under windows:")
                return nil
            }
        }
        return .time(TimeTest(any: time.any.map(numbers), not: numbers(time.not)))
    }

    /// A rule whose windows never meet can never act.
    func checkTimes(_ condition: Condition, at spot: Spot) {
        let tests = condition.timeTests
        guard !tests.isEmpty, !tests.contains(where: { $0.any?.isEmpty == true }),
            TimeTest.canHold(tests, windows) == false
        else { return }
        findings.error(
            "this rule can never run: its windows are never open as it wants them", at: spot)
    }
}

extension Condition {
    /// The times that must all hold.
    var timeTests: [TimeTest] {
        switch self {
        case .time(let test): [test]
        case .all(let list): list.flatMap(\.timeTests)
        default: []
        }
    }
}
