internal import Chat

/// The mode that was entered last and is not over, as memory keeps it.
struct Mode: Sendable, Equatable {
    var name: String
    var since: Timestamp
    /// The rule that entered it.
    var by: String
    /// Where it was entered: what its rules do, they do there.
    var place: Place?

    static let key = MemoryKey(owner: "steward", name: "mode", subject: .all)
    /// What was locked by the rules of the mode that there is.
    static let lockedKey = MemoryKey(owner: "steward", name: "mode.locked", subject: .all)
    /// Who owns what modes put off; no rule can have this name.
    static let owner = "$modes"

    init(name: String, since: Timestamp, by: String, place: Place?) {
        self.name = name
        self.since = since
        self.by = by
        self.place = place
    }

    init?(_ value: MemoryValue?) {
        guard case .text(let text)? = value else { return nil }
        let parts = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let since = Int64(parts[1]) else { return nil }
        let place = parts[3].isEmpty ? nil : Place(account: parts[3], channel: parts[4])
        self.init(name: parts[0], since: Timestamp(milliseconds: since), by: parts[2], place: place)
    }

    static func places(_ value: MemoryValue?) -> [Place] {
        if case .text(let text)? = value { places(text) } else { [] }
    }

    /// A line each.
    static func places(_ text: String) -> [Place] {
        text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t").map(String.init)
            return parts.count == 2 ? Place(account: parts[0], channel: parts[1]) : nil
        }
    }

    static func text(of places: [Place]) -> String {
        places.map { "\($0.account)\t\($0.channel)" }.joined(separator: "\n")
    }

    var text: String {
        [name, "\(since.milliseconds)", by, place?.account ?? "", place?.channel ?? ""].joined(
            separator: "\t")
    }
}

/// The modes that the files declare, in rising order.
struct Modes: Sendable {
    /// Without the default one.
    var names: [String] = []
    /// The one that there is when none was entered.
    var calm = "calm"
    var clearsAfter: [String: Duration] = [:]
    var announceTo: [String: [String]] = [:]
    /// What rules wait for, such as `entered raid`.
    var awaited: Set<String> = []

    var all: [String] { names + [calm] }

    /// What a test makes of it: the mode holds from the start on.
    func change(to name: String, at now: Timestamp) -> MemoryChange {
        name == calm
            ? .forget(Mode.key)
            : .set(Mode.key, .text(Mode(name: name, since: now, by: "", place: nil).text), keep: nil)
    }

    /// Whether one mode gives way to another: it does to those behind it.
    func gives(_ current: String, wayTo next: String) -> Bool {
        (names.firstIndex(of: current) ?? -1) <= (names.firstIndex(of: next) ?? -1)
    }
}

/// Which mode there must be.
struct ModeTest: Sendable {
    var modes: Set<String>
    var notModes: Set<String>
    var calm: String

    func current(_ situation: Situation) -> String {
        Mode(situation.memory.value(of: Mode.key))?.name ?? calm
    }

    func holds(_ situation: Situation) -> Bool {
        let current = current(situation)
        return (modes.isEmpty || modes.contains(current)) && !notModes.contains(current)
    }

    var words: String {
        notModes.isEmpty
            ? modes.sorted().joined(separator: " or ")
            : "anything but " + notModes.sorted().joined(separator: ", ")
    }
}

/// A ladder as rules use it.
struct Ladder: Sendable {
    var name: String
    var forgive: StrikeLedger.Forgiveness?

    /// How long so many points are remembered.
    func keep(_ total: Int64) -> Duration? {
        forgive.map { $0.time * Int(max(1, (total + $0.points - 1) / $0.points)) + .seconds(60) }
    }
}

/// What strikes put off to be told to rules; no rule can have this name.
enum StrikeEvents {
    static let owner = "$strikes"
}
