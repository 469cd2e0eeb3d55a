package import Unicode

/// Many phrases and expressions, looked for all at once in a text of one fold level.
///
/// A set without members matches nothing. A set is a value that any number of tasks may use, each with its own
/// `ScanScratch`; copies share what was compiled.
package struct PatternSet: Sendable {
    /// Which text an expression sees.
    package enum Subject: Sendable {
        case original, folded
    }

    package var level: FoldLevel { compiled.level }
    /// The numbers of the expressions that any text may match by the letters it has: they are run each time.
    package var regexesWithoutLiteral: [Int] {
        (compiled.onOriginal.withoutLiteral + compiled.onFolded.withoutLiteral).sorted()
    }
    /// The numbers of the phrases of which the fold leaves nothing: they never match.
    package var emptyPhrases: [Int] { compiled.emptyPhrases }

    private let compiled: CompiledPatterns

    /// - Parameters:
    ///   - phrases: As a person wrote them; the set folds them.
    package init(
        level: FoldLevel = .plain, phrases: [Phrase] = [], regexes: [(regex: Regex, sees: Subject)] = []
    ) {
        compiled = CompiledPatterns(level, phrases, regexes)
    }

    package var isEmpty: Bool { compiled.isEmpty }

    /// Finds every place of every phrase, and every expression that matches; `scratch` has the answer.
    ///
    /// `text` must be of the set's level and made from `original`. Phrases are also looked for in the text's
    /// second reading, if it has one.
    package func scan(_ text: borrowing FoldedText, of original: String, using scratch: inout ScanScratch) {
        compiled.scan(text, original, &scratch)
    }
}

/// What a set is made of. In a class, so that to hand a set on costs one reference and not twenty.
private final class CompiledPatterns: Sendable {
    let level: FoldLevel
    let emptyPhrases: [Int]
    let onOriginal: RegexGroup
    let onFolded: RegexGroup
    private let automaton: Automaton
    private let words: WordTable
    /// For each literal the first of its `targets`; the next literal's first is its end.
    private let firstTarget: [Int32]
    private let targets: [Target]

    /// From so many whole words on they are looked up by hash, which is slower: the automaton takes a kilobyte a word.
    private static let manyWords = 20_000

    init(_ level: FoldLevel, _ phrases: [Phrase], _ regexes: [(regex: Regex, sees: PatternSet.Subject)]) {
        self.level = level
        func group(_ subject: PatternSet.Subject) -> RegexGroup {
            RegexGroup(
                regexes.enumerated().filter { $0.element.sees == subject }.map {
                    ($0.offset, $0.element.regex)
                })
        }
        onOriginal = group(.original)
        onFolded = group(.folded)

        var literals = Literals()
        var empty: [Int] = []
        var folded = FoldedText()
        for (number, phrase) in phrases.enumerated() {
            folded.fold(phrase.text, to: level)
            let text = Array(folded.bytes.trimming { $0 == UInt8(ascii: " ") })
            if text.isEmpty {
                empty.append(number)
            } else {
                literals.add(text, .init(phrase.place), Int32(number))
            }
        }
        emptyPhrases = empty
        if level == .plain {
            literals.add(onOriginal, .atomOfOriginal)
            literals.add(onFolded, .atomOfFolded)
        }
        (automaton, words) = literals.compiled(hashingFrom: Self.manyWords)
        firstTarget = literals.firstTarget
        targets = literals.flatTargets
    }

    var isEmpty: Bool { targets.isEmpty && onOriginal.isEmpty && onFolded.isEmpty }

    func scan(_ text: borrowing FoldedText, _ original: String, _ scratch: inout ScanScratch) {
        assert(text.level == level)
        scratch.begin(onOriginal.atomCount, onFolded.atomCount)
        look(in: text.bytes, &scratch)
        if level.isLoose, !text.second.bytes.isEmpty { lookAgain(text.second, &scratch) }
        if onOriginal.isEmpty, onFolded.isEmpty { return }
        // What folding to `plain` does to ASCII it does to the literals of an expression too.
        let isScanned = level == .plain && text.isASCII
        if asks(onOriginal, scratch.originalAtoms, isScanned) {
            var original = original
            original.withUTF8 { subject in
                if !isScanned { scratch.originalAtoms.collect(onOriginal, subject, &scratch.caseless) }
                scratch.isComplete = onOriginal.match(
                    scratch.originalAtoms.found, subject, until: scratch.deadline, into: &scratch.regexes)
            }
        }
        if asks(onFolded, scratch.foldedAtoms, isScanned) {
            text.bytes.withUnsafeBufferPointer { subject in
                if !isScanned { scratch.foldedAtoms.collect(onFolded, subject, &scratch.caseless) }
                let all = onFolded.match(
                    scratch.foldedAtoms.found, subject, until: scratch.deadline, into: &scratch.regexes)
                if !all { scratch.isComplete = false }
            }
            if !onOriginal.isEmpty { scratch.regexes.sort() }
        }
    }

    /// Whether any expression of the group may match, as far as is known of the text.
    private func asks(_ group: borrowing RegexGroup, _ atoms: borrowing FoundAtoms, _ isScanned: Bool) -> Bool
    {
        if group.isEmpty { return false }
        return !isScanned || group.triesAlways || !atoms.isEmpty
    }

    private func look(in text: [UInt8], _ scratch: inout ScanScratch) {
        text.withUnsafeBufferPointer { text in
            automaton.scan(text, into: &scratch.occurrences)
            words.scan(text, into: &scratch.occurrences)
            if !scratch.occurrences.isEmpty { resolve(text, &scratch) }
        }
    }

    /// Adds the hits that only the second reading has.
    private func lookAgain(_ reading: SecondReading, _ scratch: inout ScanScratch) {
        let known = scratch.hits.count
        scratch.beginText()
        look(in: reading.bytes, &scratch)
        guard scratch.hits.count > known else { return }
        let first = Set(scratch.hits[..<known])
        let second = scratch.hits[known...].map { hit in
            PhraseHit(phrase: hit.phrase, range: reading.first(of: hit.range))
        }
        scratch.hits.removeSubrange(known...)
        scratch.hits.append(contentsOf: second.filter { !first.contains($0) })
    }

    /// Turns places of literals into hits of phrases, if word boundaries are where they must be.
    private func resolve(_ text: UnsafeBufferPointer<UInt8>, _ scratch: inout ScanScratch) {
        let loosely = level.isLoose
        for occurrence in scratch.occurrences {
            let end = Int(occurrence.end)
            var (left, right): (Bool?, Bool?) = (nil, nil)  // not asked yet
            let literal = Int(occurrence.literal)
            for target in targets[Int(firstTarget[literal])..<Int(firstTarget[literal + 1])] {
                let start = end - Int(target.length)
                switch target.kind {
                case .atomOfOriginal: scratch.originalAtoms.add(target.number)
                case .atomOfFolded: scratch.foldedAtoms.add(target.number)
                case .word, .prefix, .suffix, .anywhere:
                    if target.kind.beginsWord {
                        let answer = left ?? scratch.boundaries.isBoundary(text, at: start, loosely: loosely)
                        left = answer
                        guard answer else { continue }
                    }
                    if target.kind.endsWord {
                        let answer = right ?? scratch.boundaries.isBoundary(text, at: end, loosely: loosely)
                        right = answer
                        guard answer else { continue }
                    }
                    scratch.hits.append(PhraseHit(phrase: Int(target.number), range: start..<end))
                }
            }
        }
    }
}
