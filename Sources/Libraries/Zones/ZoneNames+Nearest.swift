extension ZoneNames {
    /// Those of `names` that were probably meant, the best first, three at most: the same but for case and
    /// punctuation, or of the same city, or a few slips of the keyboard away.
    static func nearest(to written: String, among names: [String]) -> [String] {
        let wanted = Key(written)
        guard !wanted.whole.isEmpty, wanted.whole.count <= 64 else { return [] }
        let ranked = names.compactMap { name in
            wanted.distance(to: Key(name)).map { (distance: $0, name: name) }
        }
        .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
        // With a sure one at hand, guesses only distract.
        return ranked.filter { $0.distance == ranked.first?.distance }.prefix(3).map(\.name)
    }

    private struct Key {
        let whole: [UInt8]
        let city: [UInt8]

        init(_ name: String) {
            let simple = name.lowercased().utf8.filter { !"_- .".utf8.contains($0) }
            whole = simple.filter { $0 != UInt8(ascii: "/") }
            city = simple.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
        }

        func distance(to name: Key) -> Int? {
            if whole == name.whole { return 0 }
            if city == name.city { return 1 }
            // Abbreviations are all near to one another.
            guard city.count > 3 else { return nil }
            let ofWhole = edits(from: whole, to: name.whole, atMost: 2)
            let ofCity = edits(from: city, to: name.city, atMost: min(2, city.count / 4))
            return [ofWhole, ofCity].compactMap { $0 }.min().map { $0 + 1 }
        }
    }

    /// Insertions, deletions, replacements and swaps of neighbours; nil when more than `limit`.
    private static func edits(from left: [UInt8], to right: [UInt8], atMost limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(
                    last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            (before, last) = (last, current)
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}
