/// How one key differs between two readings of the same thing.
package struct Difference: Sendable, Equatable, CustomStringConvertible {
    /// Such as `if.text.has_any`; empty for the thing itself.
    package var key: String
    /// Nil: it was not there.
    package var old: String?
    /// Nil: it is not there any more.
    package var new: String?
    /// Of a list whose order makes no difference.
    package var added: [String] = []
    package var removed: [String] = []

    package var description: String {
        let name = key.isEmpty ? "" : "\(key): "
        guard added.isEmpty, removed.isEmpty else {
            return name + (added.map { "+ \($0)" } + removed.map { "- \($0)" }).joined(separator: ", ")
        }
        switch (old, new) {
        case (nil, let new?): return "\(name)new: \(new)"
        case (let old?, nil): return "\(name)removed: \(old)"
        default: return "\(name)\(old ?? "") → \(new ?? "")"
        }
    }

    static func between(_ old: Meant, _ new: Meant, at key: String) -> [Difference] {
        guard old != new else { return [] }
        switch (old, new) {
        case (.keys(let before), .keys(let after)):
            return Set(before.keys).union(after.keys).sorted(by: isBefore).flatMap { name -> [Difference] in
                let path = key.isEmpty ? name : "\(key).\(name)"
                switch (before[name], after[name]) {
                case (let value?, nil): return [Difference(key: path, old: value.words)]
                case (nil, let value?): return [Difference(key: path, new: value.words)]
                case (let one?, let other?): return between(one, other, at: path)
                case (nil, nil): return []
                }
            }
        case (.list(let before), .list(let after)): return lists(before, after, at: key)
        default: return [Difference(key: key, old: old.words, new: new.words)]
        }
    }

    private static func lists(_ old: [Meant], _ new: [Meant], at key: String) -> [Difference] {
        let isWords = (old + new).allSatisfy { if case .text = $0 { true } else { false } }
        if isWords {
            let added = new.filter { !old.contains($0) }.map(\.words)
            let removed = old.filter { !new.contains($0) }.map(\.words)
            guard !added.isEmpty || !removed.isEmpty else { return [] }
            return [Difference(key: key, added: added, removed: removed)]
        }
        // Of conditions the order makes no difference.
        if key.hasSuffix(".any") || key.hasSuffix(".all") {
            let (before, after) = (old.map(\.words).sorted(), new.map(\.words).sorted())
            if before == after { return [] }
        }
        // What stands the same at both ends is left out; the rest is told item by item.
        var start = 0
        while start < min(old.count, new.count), old[start] == new[start] { start += 1 }
        var end = 0
        while end < min(old.count, new.count) - start, old[old.count - 1 - end] == new[new.count - 1 - end] {
            end += 1
        }
        let (before, after) = (old[start..<old.count - end], new[start..<new.count - end])
        var result: [Difference] = []
        for offset in 0..<max(before.count, after.count) {
            let path = "\(key)[\(start + offset)]"
            let one = offset < before.count ? before[start + offset] : nil
            let other = offset < after.count ? after[start + offset] : nil
            switch (one, other) {
            case (let one?, let other?): result += between(one, other, at: path)
            case (let one?, nil): result.append(Difference(key: path, old: one.words))
            case (nil, let other?): result.append(Difference(key: path, new: other.words))
            case (nil, nil): break
            }
        }
        return result
    }

    /// Keys of rules in their usual order, others by name.
    private static func isBefore(_ left: String, _ right: String) -> Bool {
        let (a, b) = (KeyOrder.rank(left), KeyOrder.rank(right))
        return (a, left) < (b, right)
    }
}
