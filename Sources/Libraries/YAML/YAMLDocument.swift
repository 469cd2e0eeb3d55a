internal import CYAML

/// What a YAML file holds, and everything that is wrong with it.
///
/// Nothing is guessed: a scalar is its text. Anchors and aliases work inside the file, within bounds. Tags, merge keys,
/// keys that are not text, equal keys, and a second document are errors. After an error the reader goes on where it
/// can, so that all mistakes show at once.
package struct YAMLDocument: Sendable {
    /// Nil when the file is empty, or too broken to say what it holds.
    package let root: YAMLNode?
    /// Errors and warnings in the order of their places.
    package let errors: [YAMLError]
    package let source: YAMLSource

    /// Bounds on what a file may ask for.
    package static let maximumBytes = 16 << 20
    package static let maximumDepth = 100
    package static let maximumExpansion = 10_000
    private static let maximumRepairs = 40

    package static func read(_ bytes: [UInt8]) -> YAMLDocument {
        guard bytes.count <= maximumBytes else {
            let error = YAMLError(at: .start, "the file is larger than \(maximumBytes >> 20) MB")
            return YAMLDocument(root: nil, errors: [error], source: YAMLSource([]))
        }
        var (scalars, errors) = YAMLText.decode(bytes)
        let source = YAMLSource(scalars)
        var unreadable: Set<YAMLPlace> = []
        var repairs = 0
        while true {
            let composition = YAMLComposer.compose(YAMLText.encode(scalars), source, unreadable: unreadable)
            guard let failure = composition.failure else {
                errors += composition.errors
                return YAMLDocument(root: composition.root, errors: errors.inOrder, source: source)
            }
            let repair = YAMLRepair(of: failure, in: YAMLSource(scalars))
            errors.append(repair.error)
            repairs += 1
            guard repairs < maximumRepairs, let place = repair.place, unreadable.insert(place).inserted,
                let length = repair.length
            else { return YAMLDocument(root: nil, errors: errors.inOrder, source: source) }
            YAMLText.replace(&scalars, at: place, length: length)
        }
    }
}

extension [YAMLError] {
    /// By place, each only once.
    fileprivate var inOrder: [YAMLError] {
        var seen: [YAMLError] = []
        for error in self.sorted(by: { $0.place < $1.place })
        where !seen.suffix(8).contains(error) {
            seen.append(error)
        }
        return seen
    }
}
