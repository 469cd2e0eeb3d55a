/// What a service counts when it limits the length of a text.
package enum TextUnit: Sendable, CaseIterable {
    /// What people call a letter: grapheme clusters.
    case graphemes
    /// JavaScript's and Java's `length`.
    case utf16
    case utf8
    case scalars
}

extension String {
    package func length(in unit: TextUnit) -> Int {
        switch unit {
        case .graphemes: count
        case .utf16: utf16.count
        case .utf8: utf8.count
        case .scalars: unicodeScalars.count
        }
    }

    /// The longest beginning of at most `limit` units that cuts no grapheme cluster in two.
    package func prefix(_ limit: Int, in unit: TextUnit) -> Substring {
        // No unit is longer than a byte is short: most texts need no counting.
        if utf8.count <= limit { return self[...] }
        if unit == .graphemes { return prefix(max(limit, 0)) }
        var room = limit
        var end = startIndex
        while end < endIndex {
            let next = index(after: end)
            let cost =
                switch unit {
                case .utf16: utf16.distance(from: end, to: next)
                case .utf8: utf8.distance(from: end, to: next)
                case .scalars, .graphemes: unicodeScalars.distance(from: end, to: next)
                }
            if cost > room { break }
            room -= cost
            end = next
        }
        return self[..<end]
    }
}
