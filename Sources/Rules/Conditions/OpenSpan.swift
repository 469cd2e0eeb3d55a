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
        var (starts, ends) = (span.lowerBound, span.upperBound)
        // A night that runs into the weekend, and the weekend into the next night.
        for _ in 0..<100 {
            let before = windows.lazy.compactMap { window -> Int64? in
                guard starts > .min, let span = window.window.occurrence(at: starts - 1) else { return nil }
                return span.lowerBound
            }.first
            guard let before else { break }
            starts = before
        }
        for _ in 0..<100 {
            let behind = windows.lazy.compactMap { window -> Int64? in
                guard ends < .max, let span = window.window.occurrence(at: ends) else { return nil }
                return span.upperBound
            }.first
            guard let behind else { break }
            ends = behind
        }
        name = open.name
        zone = open.window.zone
        self.starts = starts
        self.ends = ends
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
