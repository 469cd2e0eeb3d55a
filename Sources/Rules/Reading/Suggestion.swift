/// The name that was probably meant.
package enum Suggestion {
    /// The nearest of `names`, if one is near enough; a swap of neighbours is one edit, case makes no difference.
    package static func nearest<Names: Sequence<String>>(to written: String, among names: Names) -> String? {
        let wanted = simplified(written)
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        var best: (name: String, edits: Int)?
        for name in names {
            let candidate = simplified(name)
            let limit = min(max(1, max(wanted.count, candidate.count) / 3), best.map { $0.edits - 1 } ?? .max)
            guard limit >= 0, abs(candidate.count - wanted.count) <= limit else { continue }
            if let edits = edits(between: wanted, and: candidate, atMost: limit) { best = (name, edits) }
        }
        return best?.name
    }

    /// `did you mean "x"?`, or nil.
    package static func hint<Names: Sequence<String>>(for written: String, among names: Names) -> String? {
        nearest(to: written, among: names).map { "did you mean \"\($0)\"?" }
    }

    private static func simplified(_ name: String) -> [UInt8] {
        let lower = name.lowercased()
        // `policy` is meant as `policies`, far as the endings are from each other.
        let one = lower.hasSuffix("ies") ? lower.dropLast(3) + "y" : lower[...]
        return one.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// How many insertions, deletions, replacements and swaps of neighbours lead from one to the other; nil when more
    /// than `limit`.
    static func edits<Element: Equatable>(
        between left: [Element], and right: [Element], atMost limit: Int
    ) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, element) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for (column, other) in right.enumerated() {
                var cost = min(
                    last[column] + (element == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, element == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            guard current.min()! <= limit else { return nil }
            (before, last) = (last, current)
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}
