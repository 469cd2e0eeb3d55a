internal import Unicode

/// The expressions of a set that look at the same text.
struct RegexGroup: Sendable {
    /// What must occur in a text after `foldCase`, and the filter's atoms that it stands for.
    let atoms: [(text: [UInt8], numbers: [Int32])]
    let atomCount: Int
    private let regexes: [Regex]
    /// Their numbers in the set.
    private let numbers: [Int]
    private let filter: RegexFilter?
    /// Whether some are tried on every text, also on one without any atom.
    let triesAlways: Bool
    /// For a text of which the set's own automaton has not seen what `foldCase` makes of it.
    private let automaton: Automaton

    init(_ members: [(number: Int, regex: Regex)]) {
        regexes = members.map(\.regex)
        numbers = members.map(\.number)
        filter = RegexFilter(regexes)
        atomCount = filter?.atoms.count ?? 0
        triesAlways = filter.map { !$0.always.isEmpty } ?? !regexes.isEmpty
        var order: [[UInt8]] = []
        var byText: [[UInt8]: [Int32]] = [:]
        for (number, atom) in (filter?.atoms ?? []).enumerated() {
            // RE2 gives them in its lower case, which leaves letters apart that its expressions take for equal.
            var text: [UInt8] = []
            atom.withUnsafeBufferPointer { foldCase($0, into: &text) }
            if byText[text] == nil { order.append(text) }
            byText[text, default: []].append(Int32(number))
        }
        atoms = order.map { ($0, byText[$0] ?? []) }
        automaton = Automaton(order)
    }

    var isEmpty: Bool { regexes.isEmpty }

    /// The numbers in the set of the expressions that are tried on every text.
    var withoutLiteral: [Int] { filter.map { $0.always.map { numbers[$0] } } ?? numbers }

    /// The places of literals in what `foldCase` makes of a text; an occurrence names an entry of `atoms`.
    func scan(_ caseless: UnsafeBufferPointer<UInt8>, into found: inout [Occurrence]) {
        automaton.scan(caseless, into: &found)
    }

    /// Appends the numbers in the set of the expressions that match a text with these atoms; says whether all were tried.
    func match(
        _ found: [Int32], _ subject: UnsafeBufferPointer<UInt8>, until deadline: Duration?,
        into matched: inout [Int]
    ) -> Bool {
        for candidate in filter?.candidates(found) ?? Array(regexes.indices) {
            if let deadline, ThreadTime.now > deadline { return false }
            if regexes[candidate].matches(subject) { matched.append(numbers[candidate]) }
        }
        return true
    }
}
