internal import Chat
internal import Zones

/// How long, without a gap, some of a rule's windows are open.
struct OpenSpan: Sendable {
    /// The window that is open now; the first of them, if there are several.
    let name: String
    let zone: TimeZone
    /// In milliseconds since 1970; the ends of time for a window that never opens or closes.
    let starts: Int64
    let ends: Int64

    /// Nil when none of them is open.
    init?(_ windows: [NamedWindow], at moment: Timestamp) {
        guard let open = windows.first(where: { $0.window.contains(moment.milliseconds) }),
            let span = open.window.occurrence(at: moment.milliseconds)
        else { return nil }
        name = open.name
        zone = open.window.zone
        // A night that runs into the weekend, and the weekend into the next night.
        starts = Self.end(from: span.lowerBound, .min, among: windows) {
            $0.occurrence(at: $1 - 1)?.lowerBound
        }
        ends = Self.end(from: span.upperBound, .max, among: windows) { $0.occurrence(at: $1)?.upperBound }
    }

    /// How far it goes on from one window to the next; to the end of time if it does for weeks.
    private static func end(
        from first: Int64, _ never: Int64, among windows: [NamedWindow],
        _ next: (WeeklyWindow, Int64) -> Int64?
    ) -> Int64 {
        var end = first
        for _ in 0..<100 {
            guard end != never else { break }
            var further: Int64?
            for window in windows where further == nil { further = next(window.window, end) }
            guard let further else { return end }
            end = further
        }
        return never
    }

    /// What templates can ask of it.
    static let parts: [(name: String, about: String, kind: TemplateValue.Kind)] = [
        ("name", "The window that is open.", .text), ("starts", "When it opened.", .time),
        ("ends", "When it closes.", .time),
    ]

    func part(_ name: String?) -> TemplateValue {
        switch name {
        case "name": .ours(self.name)
        case "starts": starts == .min ? .absent : .time(Timestamp(milliseconds: starts), in: zone)
        case "ends": ends == .max ? .absent : .time(Timestamp(milliseconds: ends), in: zone)
        default: .absent
        }
    }
}
