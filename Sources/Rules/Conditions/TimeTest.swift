internal import Chat
internal import Zones

/// A window of time and its name.
struct NamedWindow: Sendable {
    var name: String
    var window: WeeklyWindow

    /// As people say when it is open.
    var words: String {
        let days = window.days == .all ? "" : "\(window.days) "
        return "\(name) (\(days)\(window.between), \(window.zone))"
    }
}

/// Asks which windows are open; windows go by their numbers in the rule set.
final class TimeTest: Sendable {
    /// Nil: at any time.
    let any: [Int]?
    let not: [Int]

    init(any: [Int]?, not: [Int]) {
        self.any = any
        self.not = not
    }

    func holds(_ isOpen: (Int) -> Bool) -> Bool {
        if let any, !any.contains(where: isOpen) { return false }
        return !not.contains(where: isOpen)
    }
}

/// Whether a window is open, and for how long that is so: to look it up in the zone's data takes far longer than an
/// event may.
struct WindowState: Sendable {
    private var from = Int64.max
    private var to = Int64.min
    private(set) var isOpen = false

    mutating func look(_ window: WeeklyWindow, at moment: Timestamp) {
        let moment = moment.milliseconds
        if moment >= from, moment < to { return }
        if let span = window.occurrence(at: moment) {
            (from, to, isOpen) = (span.lowerBound, span.upperBound, true)
        } else {
            (from, to, isOpen) = (moment, window.nextStart(after: moment) ?? .max, false)
        }
    }
}

extension TimeTest {
    /// Whether one of the windows is open at any time, so that it neither opened nor closes; as far as one clock tells.
    static func isAlwaysOpen(_ windows: [NamedWindow]) -> Bool {
        if windows.contains(where: \.window.isAlwaysOpen) { return true }
        return Set(windows.map(\.window.zone)).contains { zone in
            let open = windows.filter { $0.window.zone == zone }.map(\.window.minutes)
            return (0..<WeeklyWindow.minutesAWeek).allSatisfy { minute in open.contains { $0[minute] } }
        }
    }

    /// Whether there is a minute of the week at which all of these hold; nil when windows of several zones are asked
    /// for, which the seasons move against each other.
    static func canHold(_ tests: [TimeTest], _ windows: [NamedWindow]) -> Bool? {
        let used = Set(tests.flatMap { ($0.any ?? []) + $0.not })
        guard Set(used.map { windows[$0].window.zone }).count <= 1 else { return nil }
        let minutes = Dictionary(uniqueKeysWithValues: used.map { ($0, windows[$0].window.minutes) })
        return (0..<WeeklyWindow.minutesAWeek).contains { minute in
            tests.allSatisfy { test in test.holds { minutes[$0]?[minute] == true } }
        }
    }
}

extension WeeklyWindow {
    fileprivate static let minutesAWeek = 7 * 1440

    /// For each minute of a week without a change of the clocks, whether it is open.
    fileprivate var minutes: [Bool] {
        var open = [Bool](repeating: false, count: Self.minutesAWeek)
        for day in Weekday.allCases where days.contains(day) {
            let start = day.rawValue * 1440 + between.start.minutes
            let length = (between.end.minutes - between.start.minutes + 1440 - 1) % 1440 + 1
            for minute in start..<start + length { open[minute % Self.minutesAWeek] = true }
        }
        return open
    }
}
