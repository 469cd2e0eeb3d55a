internal import YAML

/// What changed between two sets of bots' files: what they mean, not how they are written.
package struct BotComparison: Sendable {
    /// A set of files, and how to get the word lists they name.
    package struct Side {
        package var files: [BotSource]
        package var list: (String) -> [UInt8]?

        package init(files: [BotSource], list: @escaping (String) -> [UInt8]? = { _ in nil }) {
            self.files = files
            self.list = list
        }
    }

    package let changes: [BotChange]

    /// Throws what is wrong when a side cannot be read.
    package init(from old: Side, to new: Side) throws(BotComparisonError) {
        let reader = MeaningReader(LanguageReference())
        let (before, after) = (try BotOutline(old, reader), try BotOutline(new, reader))
        var changes: [BotChange] = []
        for section in BotOutline.sections {
            changes += Self.named(section, before.sections[section] ?? [:], after.sections[section] ?? [:])
        }
        changes += Self.rules(before.rules, after.rules)
        self.changes = changes
    }

    private static func named(_ kind: String, _ old: [String: Meant], _ new: [String: Meant]) -> [BotChange] {
        Set(old.keys).union(new.keys).sorted().compactMap { name in
            switch (old[name], new[name]) {
            case (nil, let value?): return BotChange(.added, kind, name, [], detail: value.words)
            case (let value?, nil): return BotChange(.removed, kind, name, [], detail: value.words)
            case (let before?, let after?):
                let differences = Difference.between(before, after, at: "")
                return differences.isEmpty ? nil : BotChange(.changed, kind, name, differences)
            case (nil, nil): return nil
            }
        }
    }

    private static func rules(_ old: [BotOutline.Rule], _ new: [BotOutline.Rule]) -> [BotChange] {
        var changes: [BotChange] = []
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(new.map(\.name))
        var former: [String: String] = [:]
        for rule in new where before[rule.name] == nil {
            if let was = rule.was, before[was] != nil, !names.contains(was) { former[rule.name] = was }
        }
        let renamed = Set(former.values)
        for rule in old where !names.contains(rule.name) && !renamed.contains(rule.name) {
            changes.append(BotChange(.removed, "rule", rule.name, [], detail: rule.file))
        }
        let moved = moves(old, new, former)
        for rule in new {
            guard let earlier = before[former[rule.name] ?? rule.name] else {
                changes.append(BotChange(.added, "rule", rule.name, [], detail: rule.file))
                continue
            }
            let differences = Difference.between(earlier.meaning, rule.meaning, at: "")
            if let was = former[rule.name] {
                changes.append(BotChange(.renamed, "rule", rule.name, differences, was: was))
            } else if !differences.isEmpty {
                changes.append(BotChange(.changed, "rule", rule.name, differences))
            }
            if let place = moved[rule.name] {
                changes.append(BotChange(.moved, "rule", rule.name, [], detail: place))
            }
        }
        return changes
    }

    /// Where rules stand now that changed places with others of their stage; the fewest that explain the new order.
    private static func moves(
        _ old: [BotOutline.Rule], _ new: [BotOutline.Rule], _ former: [String: String]
    ) -> [String: String] {
        var result: [String: String] = [:]
        for stage in ["guard", "answer"] {
            let places = Dictionary(
                old.filter { $0.stage == stage }.enumerated().map { ($1.name, $0) }
            ) { first, _ in first }
            let rules = new.filter { $0.stage == stage && places[former[$0.name] ?? $0.name] != nil }
            let numbers = rules.compactMap { places[former[$0.name] ?? $0.name] }
            let steady = Set(longestRise(numbers))
            for (index, rule) in rules.enumerated() where !steady.contains(index) {
                result[rule.name] = index == 0 ? "now first" : "now after \"\(rules[index - 1].name)\""
            }
        }
        return result
    }

    /// The places of a longest rising row of numbers.
    private static func longestRise(_ numbers: [Int]) -> [Int] {
        var tails: [Int] = []
        var before = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? tails[low - 1] : nil
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var row: [Int] = []
        var current = tails.last
        while let index = current {
            row.append(index)
            current = before[index]
        }
        return row.reversed()
    }
}

/// Files that cannot be compared, because they have mistakes.
package struct BotComparisonError: Error, Sendable {
    package var findings: [BotFileError]
}

/// One thing that changed.
package struct BotChange: Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable { case added, removed, renamed, moved, changed }

    package var kind: Kind
    /// `rule`, `list`, `variable`, …
    package var what: String
    package var name: String
    /// Its name before.
    package var was: String?
    /// Where it is, or what it is.
    package var detail: String?
    package var differences: [Difference]

    init(
        _ kind: Kind, _ what: String, _ name: String, _ differences: [Difference], was: String? = nil,
        detail: String? = nil
    ) {
        self.kind = kind
        self.what = what
        self.name = name
        self.was = was
        self.detail = detail
        self.differences = differences
    }

    package var description: String {
        let before = was.map { "\"\($0)\" → " } ?? ""
        let title = "\(what) \(before)\"\(name)\": \(kind.rawValue)" + (detail.map { ": \($0)" } ?? "")
        return ([title] + differences.map { "  \($0)" }).joined(separator: "\n")
    }
}
