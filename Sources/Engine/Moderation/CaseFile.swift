internal import Chat

/// The cases that something still becomes of, and what the next commit writes of them.
struct CaseFile {
    private var cases: [String: Case] = [:]
    private var changed: Set<String> = []
    /// Where a case has the history of a channel, and since when.
    private var histories: [ChannelID: (name: String, at: Timestamp)] = [:]
    /// Up to which hour what was to go has gone; nil until that is known or needed.
    var cleaned: Int64?

    init(_ cleaned: [StoredRow] = []) {
        self.cleaned = cleaned.first.flatMap { Int64(String(decoding: $0.body, as: UTF8.self)) }
    }

    subscript(name: String) -> Case? {
        get { cases[name] }
        set {
            cases[name] = newValue
            if newValue != nil { changed.insert(name) }
        }
    }

    /// Those of which the store may not have the newest.
    var inWork: [Case] { Array(cases.values) }

    /// A case as the store has it.
    mutating func learn(_ stored: Case) { cases[stored.name] = stored }

    /// Nil when the case is to bring the channel's history itself.
    mutating func historian(of channel: ChannelID, for name: String, at now: Timestamp) -> String? {
        if let last = histories[channel], now - last.at < .seconds(60) { return last.name }
        if histories.count > 1024 { histories = [:] }
        histories[channel] = (name, now)
        return nil
    }

    mutating func takeChanges() -> [RowChange] {
        guard !changed.isEmpty else { return [] }
        defer { changed = [] }
        return changed.sorted().compactMap { name in
            cases[name].map { RowChange(RowKey(.cases, name), JSONRow.body(of: $0)) }
        }
    }

    /// What is over is in the store. Only after a commit.
    mutating func letGo() {
        if !cases.isEmpty { cases = cases.filter { $0.value.isOpen } }
    }

    mutating func forget(_ name: String) {
        cases[name] = nil
        changed.remove(name)
    }
}

// Texts that go in one hour are listed in the rows of one key.
extension CaseFile {
    static let cleanedKey = "cleaned"

    static func hour(_ time: Timestamp) -> Int64 { time.milliseconds / 3_600_000 }

    /// The list that a case is in whose texts go at that time.
    static func listKey(_ hour: Int64) -> String { "until \(hour)" }

    static func isName(_ key: String) -> Bool { key.hasPrefix("C") && key.dropFirst().allSatisfy(\.isNumber) }
}
