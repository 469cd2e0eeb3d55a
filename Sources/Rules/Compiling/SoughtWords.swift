internal import Unicode

/// What a word or phrase of a list is found by, as far as it can be compared with others.
struct SoughtWords: Equatable {
    /// Folded, cut at spaces; none for what has more than letters, digits and spaces, whose borders are Unicode's.
    private var pieces: [String]
    /// Whether letters may stand before the first, or behind the last.
    private var isOpenBefore: Bool
    private var isOpenBehind: Bool

    init(_ word: String, _ match: BotText.Match) {
        isOpenBefore = word.hasPrefix("*") || match == .suffix || match == .anywhere
        isOpenBehind = word.hasSuffix("*") || match == .prefix || match == .anywhere
        var bare = word[...]
        if bare.hasPrefix("*") { bare.removeFirst() }
        if bare.hasSuffix("*") { bare.removeLast() }
        let folded = String(bare).folded(to: .plain)
        let isSimple = folded.unicodeScalars.allSatisfy {
            $0 == " " || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
        pieces = isSimple ? folded.split(separator: " ").map(String.init) : []
    }

    /// Whether this is found in each text in which the other is.
    func covers(_ other: SoughtWords) -> Bool {
        guard !pieces.isEmpty, pieces.count <= other.pieces.count else { return false }
        return (0...(other.pieces.count - pieces.count)).contains { start in
            pieces.indices.allSatisfy { covers(piece: $0, other, piece: start + $0) }
        }
    }

    private func covers(piece index: Int, _ other: SoughtWords, piece place: Int) -> Bool {
        let (piece, long) = (pieces[index], other.pieces[place])
        let mayBegin = isOpenBefore && index == 0
        let mayGoOn = isOpenBehind && index == pieces.count - 1
        if other.isOpenBefore && place == 0, !mayBegin { return false }
        if other.isOpenBehind && place == other.pieces.count - 1, !mayGoOn { return false }
        return switch (mayBegin, mayGoOn) {
        case (true, true): long.contains(piece)
        case (true, false): long.hasSuffix(piece)
        case (false, true): long.hasPrefix(piece)
        case (false, false): long == piece
        }
    }
}
