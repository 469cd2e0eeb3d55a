internal import CRE2
internal import Unicode

/// Tells by the strings that a text has which of many expressions may match it.
///
/// `@unchecked Sendable`: RE2's filter may be asked by any number of threads at once after it was made.
final class RegexFilter: @unchecked Sendable {
    /// What to look for in a text, without regard to case; an expression that needs one of these may match only where it is.
    let atoms: [[UInt8]]
    /// The expressions that need none of them.
    let always: [Int]
    private let filter: OpaquePointer
    private let count: Int

    /// One letter occurs in nearly every text: it tells nothing.
    private static let shortestAtom: Int32 = 2

    init?(_ regexes: [Regex]) {
        guard !regexes.isEmpty, let filter = cre2_filter_open(Self.shortestAtom) else { return nil }
        self.filter = filter
        count = regexes.count
        var isComplete = true
        for regex in regexes {
            let compiled = regex.compiled
            // One that cannot be added leaves the filter as it was.
            let isAdded = compiled.patterns.contains { pattern in
                cre2_filter_add(filter, pattern, pattern.count, compiled.budget)
            }
            isComplete = isAdded && isComplete
        }
        let atomCount = isComplete ? cre2_filter_compile(filter) : 0
        atoms = (0..<atomCount).map { number in
            var length = 0
            let text = cre2_filter_atom(filter, number, &length)
            return Array(UnsafeBufferPointer(start: text, count: length))
        }
        always = isComplete ? Self.candidates(filter, [], count) : []
        // What compiled once compiles again; if it did not, no filter is better than a wrong one.
        guard isComplete else {
            cre2_filter_free(filter)
            return nil
        }
    }

    deinit { cre2_filter_free(filter) }

    /// The numbers of the expressions that may match a text with these atoms, rising.
    func candidates(_ found: [Int32]) -> [Int] {
        found.isEmpty ? always : Self.candidates(filter, found, count)
    }

    private static func candidates(_ filter: OpaquePointer, _ found: [Int32], _ count: Int) -> [Int] {
        var numbers = [Int32](repeating: 0, count: count)
        let used = cre2_filter_candidates(filter, found, Int32(found.count), &numbers)
        return numbers[..<Int(used)].map { Int($0) }
    }
}
