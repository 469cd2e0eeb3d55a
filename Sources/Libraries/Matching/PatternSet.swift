package import Unicode

/// Many phrases and expressions, looked for all at once in a text of one fold level.
///
/// A set without members matches nothing. A set is a value that any number of tasks may use, each with its own
/// `ScanScratch`.
package struct PatternSet: Sendable {
    /// Which text an expression sees.
    package enum Subject: Sendable {
        case original, folded
    }

    package let level: FoldLevel
    /// The numbers of the expressions that any text may match by the letters it has: they are run each time.
    package let regexesWithoutLiteral: [Int]
    /// The numbers of the phrases of which the fold leaves nothing: they never match.
    package let emptyPhrases: [Int]

    private let automaton: Automaton
    private let words: WordTable
    /// For each literal the first of its `targets`; the next literal's first is its end.
    private let firstTarget: [Int32]
    private let targets: [Target]
    private let onOriginal: RegexGroup
    private let onFolded: RegexGroup

    /// From so many whole words on they are looked up by hash: the automaton would outgrow the cache.
    private static let manyWords = 500

    /// - Parameters:
    ///   - phrases: As a person wrote them; the set folds them.
    package init(
        level: FoldLevel = .plain, phrases: [Phrase] = [], regexes: [(regex: Regex, sees: Subject)] = []
    ) {
        self.level = level
        let members = regexes.enumerated()
        onOriginal = RegexGroup(
            members.filter { $0.element.sees == .original }.map { ($0.offset, $0.element.regex) })
        onFolded = RegexGroup(
            members.filter { $0.element.sees == .folded }.map { ($0.offset, $0.element.regex) })
        regexesWithoutLiteral = (onOriginal.withoutLiteral + onFolded.withoutLiteral).sorted()

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

    package var isEmpty: Bool { targets.isEmpty && onOriginal.isEmpty && onFolded.isEmpty }

    /// Finds every place of every phrase, and every expression that matches; `scratch` has the answer.
    ///
    /// `text` must be of the set's level and made from `original`.
    package func scan(_ text: borrowing FoldedText, of original: String, using scratch: inout ScanScratch) {
        assert(text.level == level)
        scratch.begin(onOriginal.atomCount, onFolded.atomCount)
        text.bytes.withUnsafeBufferPointer { bytes in
            automaton.scan(bytes, into: &scratch.occurrences)
            words.scan(bytes, into: &scratch.occurrences)
            if !scratch.occurrences.isEmpty { resolve(bytes, &scratch) }
        }
        guard !(onOriginal.isEmpty && onFolded.isEmpty) else { return }
        // What folding to `plain` does to ASCII it does to the literals of an expression too.
        let isScanned = level == .plain && text.isASCII
        if !onOriginal.isEmpty {
            var original = original
            original.withUTF8 { subject in
                if !isScanned { scratch.originalAtoms.collect(onOriginal, subject, &scratch.caseless) }
                onOriginal.match(scratch.originalAtoms.found, subject, into: &scratch.regexes)
            }
        }
        if !onFolded.isEmpty {
            text.bytes.withUnsafeBufferPointer { subject in
                if !isScanned { scratch.foldedAtoms.collect(onFolded, subject, &scratch.caseless) }
                onFolded.match(scratch.foldedAtoms.found, subject, into: &scratch.regexes)
            }
            if !onOriginal.isEmpty { scratch.regexes.sort() }
        }
    }

    /// Turns places of literals into hits of phrases, if word boundaries are where they must be.
    private func resolve(_ text: UnsafeBufferPointer<UInt8>, _ scratch: inout ScanScratch) {
        let loosely = level == .loose
        for occurrence in scratch.occurrences {
            let end = Int(occurrence.end)
            // Not asked yet, no, yes.
            var (left, right): (Bool?, Bool?) = (nil, nil)
            let range =
                Int(firstTarget[Int(occurrence.literal)])..<Int(firstTarget[Int(occurrence.literal) + 1])
            for target in targets[range] {
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
