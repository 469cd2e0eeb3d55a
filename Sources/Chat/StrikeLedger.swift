/// The strikes that somebody has on one ladder, in the order in which they were given. Memory keeps it as text.
package struct StrikeLedger: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// Less than 0: so many were taken back.
        package var points: Int64
        package var at: Timestamp
        package var reason: String?
        /// The rule that gave it.
        package var by: String
        /// The event that it was given for.
        package var event: String
        /// Who gave it by a command; nil when the rule did by itself.
        package var moderator: String?

        package init(
            points: Int64, at: Timestamp, reason: String? = nil, by: String, event: String,
            moderator: String? = nil
        ) {
            self.points = points
            self.at = at
            self.reason = reason
            self.by = by
            self.event = event
            self.moderator = moderator
        }
    }

    /// So many points are forgiven each time that so long has passed.
    package struct Forgiveness: Sendable, Equatable {
        package var points: Int64
        package var time: Duration

        package init(points: Int64, time: Duration) {
            self.points = points
            self.time = time
        }
    }

    package private(set) var entries: [Entry] = []

    /// Of more, the oldest are let go of.
    package static let most = 100

    package init() {}

    /// Where a ladder's strikes are kept.
    package static func key(ladder: String, user: UserID) -> MemoryKey {
        MemoryKey(owner: "steward", name: "strikes.\(ladder)", subject: .user(user))
    }

    package mutating func add(_ entry: Entry) {
        entries.append(entry)
        if entries.count > Self.most { entries.removeFirst(entries.count - Self.most) }
    }

    /// Takes back what a rule gave for an event; false when it gave nothing.
    @discardableResult
    package mutating func remove(event: String, by rule: String) -> Bool {
        let before = entries.count
        entries.removeAll { $0.event == event && $0.by == rule }
        return entries.count < before
    }

    /// How many points are left by then; never less than 0. The time of forgiving runs from the first point on, and
    /// another strike does not stop it.
    package func total(at now: Timestamp, forgive: Forgiveness?) -> Int64 {
        var total: Int64 = 0
        var since = Timestamp(milliseconds: 0)
        func passed(until time: Timestamp) {
            guard total > 0, let forgive else { return }
            let step = max(1, forgive.time.milliseconds)
            let times = max(0, (time - since).milliseconds / step)
            let (forgiven, overflow) = times.multipliedReportingOverflow(by: forgive.points)
            total = overflow ? 0 : max(0, total - forgiven)
            since = since + .milliseconds(times * step)
        }
        for entry in entries.sorted(by: { $0.at < $1.at }) where entry.at <= now {
            passed(until: entry.at)
            if total == 0 { since = entry.at }
            total = max(0, total.addingReportingOverflow(entry.points).partialValue)
        }
        passed(until: now)
        return total
    }

    // MARK: As text

    /// One line an entry, its parts with tabs between them.
    package init?(text: String) {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .map { Self.unescaped(Substring($0)) }
            guard parts.count == 6, let points = Int64(parts[0]), let at = Int64(parts[1]) else { return nil }
            entries.append(
                Entry(
                    points: points, at: Timestamp(milliseconds: at),
                    reason: parts[5].isEmpty ? nil : parts[5],
                    by: parts[2], event: parts[3], moderator: parts[4].isEmpty ? nil : parts[4]))
        }
    }

    /// What memory holds; empty when it holds nothing.
    package init(_ value: MemoryValue?) {
        guard case .text(let text)? = value, let read = StrikeLedger(text: text) else { return }
        self = read
    }

    package var text: String {
        entries.map { entry in
            [
                "\(entry.points)", "\(entry.at.milliseconds)", entry.by, entry.event, entry.moderator ?? "",
                entry.reason ?? "",
            ].map(Self.escaped).joined(separator: "\t") + "\n"
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func unescaped(_ text: Substring) -> String {
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                result.append(scalar == "t" ? "\t" : scalar == "n" ? "\n" : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
