internal import Unicode

/// What it means that a literal was found.
struct Target: Sendable {
    enum Kind: UInt8 {
        case word, prefix, suffix, anywhere
        /// An expression that sees the original, or the folded text, may match.
        case atomOfOriginal, atomOfFolded

        init(_ place: Phrase.Place) {
            self =
                switch place {
                case .word: .word
                case .prefix: .prefix
                case .suffix: .suffix
                case .anywhere: .anywhere
                }
        }

        var beginsWord: Bool { self == .word || self == .prefix }
        var endsWord: Bool { self == .word || self == .suffix }
    }

    let kind: Kind
    /// Of the phrase or the atom.
    let number: Int32
    /// Of the literal, in bytes.
    let length: Int32
}

/// All that a set looks for, each text once, while the set is made.
struct Literals {
    private var texts: [[UInt8]] = []
    private var targets: [[Target]] = []
    private var numbers: [[UInt8]: Int] = [:]

    mutating func add(_ text: [UInt8], _ kind: Target.Kind, _ number: Int32) {
        let target = Target(kind: kind, number: number, length: Int32(text.count))
        if let known = numbers[text] {
            targets[known].append(target)
        } else {
            numbers[text] = texts.count
            texts.append(text)
            targets.append([target])
        }
    }

    /// Adds a group's atoms as an ASCII text has them after folding; others it cannot have.
    mutating func add(_ group: RegexGroup, _ kind: Target.Kind) {
        for atom in group.atoms {
            let folded = FoldedText(String(decoding: atom.text, as: UTF8.self), to: .plain)
            guard folded.isASCII else { continue }
            for number in atom.numbers { add(folded.bytes, kind, number) }
        }
    }

    var firstTarget: [Int32] {
        var first: [Int32] = [0]
        for list in targets { first.append(first[first.count - 1] + Int32(list.count)) }
        return first
    }

    var flatTargets: [Target] { targets.flatMap(\.self) }

    /// Whole words go into the table if there are that many, all else into the automaton.
    func compiled(hashingFrom many: Int) -> (Automaton, WordTable) {
        let isWord = texts.indices.map { number in
            targets[number].allSatisfy { $0.kind == .word } && WordTable.fits(texts[number])
        }
        let hashes = isWord.count(where: \.self) >= many
        let hashed = texts.indices.filter { hashes && isWord[$0] }
        let scanned = texts.indices.filter { !(hashes && isWord[$0]) }
        return (
            Automaton(scanned.map { texts[$0] }, numbers: scanned.map { Int32($0) }),
            WordTable(hashed.map { (Int32($0), texts[$0]) })
        )
    }
}

extension Array {
    /// Without the elements at either end that are so.
    func trimming(_ isSuperfluous: (Element) -> Bool) -> ArraySlice<Element> {
        let rest = drop(while: isSuperfluous)
        guard let last = rest.lastIndex(where: { !isSuperfluous($0) }) else { return [] }
        return rest[...last]
    }
}
