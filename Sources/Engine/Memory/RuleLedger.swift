package import Chat

/// How often a rule or plugin matches, when it did last, and what went wrong with its actions last.
package struct RuleRecord: Sendable, Equatable {
    package var lastMatch: Timestamp?
    /// Matches by day, counted in days since 1970 in UTC; the last thirty of them.
    package var days: [Day] = []
    package var lastFailure: Failure?

    package struct Day: Sendable, Equatable {
        package var number: Int64
        package var count: Int64
    }

    package struct Failure: Sendable, Equatable {
        package var at: Timestamp
        package var why: String
    }

    /// So many days are counted.
    package static let mostDays = 30

    init() {}

    /// Matches within the last thirty days.
    package func matches(until now: Timestamp) -> Int64 {
        days.filter { $0.number > now.day - Int64(Self.mostDays) }.reduce(0) { $0 + $1.count }
    }

    /// Matches a day, over as many of the last thirty as there has been something to count.
    package func matchesADay(until now: Timestamp) -> Double {
        guard let first = days.first(where: { $0.number > now.day - Int64(Self.mostDays) }) else { return 0 }
        return Double(matches(until: now)) / Double(max(1, now.day - first.number + 1))
    }

    fileprivate mutating func match(_ count: Int, at now: Timestamp) {
        lastMatch = now
        if days.last?.number == now.day {
            days[days.count - 1].count += Int64(count)
        } else {
            days.append(Day(number: now.day, count: Int64(count)))
            if days.count > Self.mostDays { days.removeFirst() }
        }
    }
}

/// The records of all rules; what changed goes into the journal with each commit.
package struct RuleLedger: Sendable {
    package private(set) var records: [String: RuleRecord] = [:]
    private var changed: Set<String> = []

    /// Its mark in the names of rules that matched on dry run.
    private static let dry = " (dry)"

    package init() {}

    /// Counting begins; noted once in a store's life.
    mutating func begin(at now: Timestamp) {
        guard records[Punishment.owner]?.days.isEmpty ?? true else { return }
        records[Punishment.owner, default: RuleRecord()].days = [.init(number: now.day, count: 0)]
        changed.insert(Punishment.owner)
    }

    /// For how many days something has been counted, or at least that.
    package func days(until now: Timestamp) -> Int64 {
        records.values.compactMap(\.days.first?.number).min().map { now.day - $0 } ?? 0
    }

    mutating func match(_ name: String, _ count: Int = 1, at now: Timestamp) {
        let rule = name.hasSuffix(Self.dry) ? String(name.dropLast(Self.dry.count)) : name
        records[rule, default: RuleRecord()].match(count, at: now)
        changed.insert(rule)
    }

    mutating func fail(_ rule: String, _ why: String, at now: Timestamp) {
        records[rule, default: RuleRecord()].lastFailure = .init(at: now, why: String(why.prefix(200)))
        changed.insert(rule)
    }

    mutating func takeChanges() -> [RowChange] {
        guard !changed.isEmpty else { return [] }
        defer { changed.removeAll(keepingCapacity: true) }
        return changed.sorted().compactMap { rule in
            records[rule].map { RowChange(RowKey(.rule, rule), $0.body) }
        }
    }

    /// Takes in what earlier runs left in the journal.
    package mutating func load(_ rows: [StoredRow]) {
        for row in rows { records[row.key.key] = RuleRecord(row.body) }
    }
}

extension Timestamp {
    fileprivate var day: Int64 { Int64((Double(milliseconds) / 86_400_000).rounded(.down)) }
}

extension RuleRecord {
    init?(_ body: [UInt8]) {
        var reader = RowReader(body)
        guard let lastMatch = reader.time(), let count = reader.count() else { return nil }
        self.lastMatch = lastMatch
        for _ in 0..<count {
            guard let number = reader.number(), let count = reader.number() else { return nil }
            days.append(Day(number: number, count: count))
        }
        guard let failed = reader.time() else { return nil }
        if let failed, let why = reader.text() { lastFailure = Failure(at: failed, why: why) }
    }

    fileprivate var body: [UInt8] {
        var writer = RowWriter()
        writer.time(lastMatch)
        writer.count(days.count)
        for day in days {
            writer.number(day.number)
            writer.number(day.count)
        }
        writer.time(lastFailure?.at)
        if let lastFailure { writer.text(lastFailure.why) }
        return writer.bytes
    }
}
