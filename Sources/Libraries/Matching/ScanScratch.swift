internal import Unicode

/// The room a scan works in, and its answer. One for each task, used for one text after another.
package struct ScanScratch {
    /// Every place of every phrase found in the last text, in no particular order.
    package internal(set) var hits: [PhraseHit] = []
    /// The numbers of the expressions that match the last text, rising.
    package internal(set) var regexes: [Int] = []

    /// The thread's time (`ThreadTime`) from which on no further expression is tried; nil: all are.
    package var deadline: Duration?
    /// Whether every expression that the last text may match was tried.
    package internal(set) var isComplete = true

    var boundaries = WordBoundaries()
    var occurrences: [Occurrence] = []
    var originalAtoms = FoundAtoms()
    var foldedAtoms = FoundAtoms()
    var caseless: [UInt8] = []

    package init() {}

    mutating func begin(_ originalAtomCount: Int, _ foldedAtomCount: Int) {
        // To empty what is empty is not free, and most texts have nothing.
        if !hits.isEmpty { hits.removeAll(keepingCapacity: true) }
        if !regexes.isEmpty { regexes.removeAll(keepingCapacity: true) }
        isComplete = true
        beginText()
        if originalAtomCount > 0 { originalAtoms.begin(originalAtomCount) }
        if foldedAtomCount > 0 { foldedAtoms.begin(foldedAtomCount) }
    }

    /// Another text; what was found stays.
    mutating func beginText() {
        if !occurrences.isEmpty { occurrences.removeAll(keepingCapacity: true) }
        boundaries.begin()
    }
}

/// Which atoms of a group of expressions a text has, each once.
struct FoundAtoms {
    private(set) var found: [Int32] = []
    var isEmpty: Bool { found.isEmpty }
    /// The number of the text in which an atom was found last.
    private var lastText: [UInt32] = []
    private var text: UInt32 = 0

    mutating func begin(_ count: Int) {
        if !found.isEmpty { found.removeAll(keepingCapacity: true) }
        if text == .max || lastText.count < count {
            lastText = [UInt32](repeating: 0, count: count)
            text = 0
        }
        text += 1
    }

    @inline(__always)
    mutating func add(_ atom: Int32) {
        if lastText[Int(atom)] != text {
            lastText[Int(atom)] = text
            found.append(atom)
        }
    }

    /// Finds the atoms in a text of which the set's automaton has seen another form.
    mutating func collect(
        _ group: RegexGroup, _ subject: UnsafeBufferPointer<UInt8>, _ caseless: inout [UInt8]
    ) {
        begin(group.atomCount)
        foldCase(subject, into: &caseless)
        var occurrences: [Occurrence] = []
        caseless.withUnsafeBufferPointer { group.scan($0, into: &occurrences) }
        for occurrence in occurrences {
            for atom in group.atoms[Int(occurrence.literal)].numbers { add(atom) }
        }
    }
}
