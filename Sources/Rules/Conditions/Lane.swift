internal import Matching
internal import Unicode

/// A text of an event as some conditions see it: one field, without what they skip, folded to their level. All that
/// any rule looks for in it is found in one scan.
final class Lane: Sendable {
    struct Name: Sendable, Hashable {
        var field: BotText.Field
        var skip: Set<BotText.Skip>
        var level: FoldLevel
    }

    /// What a phrase counts for, and where it must stand for that.
    struct Target: Sendable, Hashable {
        enum Anchor: Sendable { case none, start, end, whole }

        var probe: Int32
        var anchor = Anchor.none
    }

    let name: Name
    let patterns: PatternSet
    /// For each phrase the first of its `targets`; the next phrase's first is its end.
    let firstTarget: [Int32]
    let targets: [Target]
    /// For each regular expression what it counts for.
    let regexProbes: [[Int32]]

    init(
        _ name: Name, _ patterns: PatternSet, firstTarget: [Int32], targets: [Target], regexProbes: [[Int32]]
    ) {
        self.name = name
        self.patterns = patterns
        self.firstTarget = firstTarget
        self.targets = targets
        self.regexProbes = regexProbes
    }
}

/// Collects what is looked for in a lane.
struct LaneBuilder {
    let name: Lane.Name
    private var phrases: [Phrase] = []
    private var numbers: [Phrase: Int] = [:]
    private var targets: [[Lane.Target]] = []
    private var regexes: [(regex: Regex, sees: PatternSet.Subject)] = []
    private var regexNumbers: [String: Int] = [:]
    private var regexProbes: [[Int32]] = []
    /// Where each expression stands first.
    private(set) var regexSpots: [Spot] = []

    init(_ name: Lane.Name) {
        self.name = name
    }

    mutating func add(_ phrase: Phrase, for target: Lane.Target) {
        if let number = numbers[phrase] {
            targets[number].append(target)
        } else {
            numbers[phrase] = phrases.count
            phrases.append(phrase)
            targets.append([target])
        }
    }

    mutating func add(_ regex: Regex, sees subject: PatternSet.Subject, for probe: Int32, at spot: Spot) {
        let key = "\(subject) \(regex.source)"
        if let number = regexNumbers[key] {
            regexProbes[number].append(probe)
        } else {
            regexNumbers[key] = regexes.count
            regexes.append((regex, subject))
            regexProbes.append([probe])
            regexSpots.append(spot)
        }
    }

    func built() -> Lane {
        var first: [Int32] = []
        var flat: [Lane.Target] = []
        for list in targets {
            first.append(Int32(flat.count))
            flat += list
        }
        first.append(Int32(flat.count))
        return Lane(
            name, PatternSet(level: name.level, phrases: phrases, regexes: regexes), firstTarget: first,
            targets: flat, regexProbes: regexProbes)
    }
}
