internal import CICU

/// What the loose fold does beyond the plain one, of which it is given the result.
///
/// A person who writes Russian, Greek or Hindi must not be read as if they wrote English badly: look-alike letters
/// count only where somebody mixed two scripts in a word.
struct LooseFold {
    /// A scalar, and the stretch of the original it comes from.
    private struct Piece {
        var scalar: UInt32
        var kind: Int32
        var stretch: Stretch
        /// The letter of another script that it may be as well; 0 for none.
        var other: UInt32 = 0
        var isOne = false
    }

    /// A run of letters, marks and digits.
    private struct Token {
        enum Kind { case latin, foreign, imitation, mixed, numeric }

        var kind: Kind
        var pieces: Range<Int>

        /// Whether it tells in which script its neighbours are written.
        var isOfLanguage: Bool { kind != .numeric && kind != .imitation }
    }

    private var pieces: [Piece] = []
    private var tokens: [Token] = []

    init(_ bytes: [UInt8], _ stretches: [Stretch]) {
        pieces.reserveCapacity(bytes.count)
        read(bytes, stretches)
        classify()
    }

    private mutating func read(_ bytes: [UInt8], _ stretches: [Stretch]) {
        bytes.withUnsafeBufferPointer { text in
            var i = 0
            while i < text.count {
                var (scalar, width) = decodeScalar(text, at: i)
                var kind = Self.kind(of: scalar)
                if let letter = Self.decoratedLetter(scalar, kind) {
                    scalar = UInt32(letter)
                    kind = Self.kind(of: scalar)
                }
                let stretch = Stretch(start: stretches[i].start, end: stretches[i + width - 1].end)
                let piece = Piece(scalar: scalar, kind: kind, stretch: stretch)
                if kind & Self.inWord != 0 {
                    if let last = tokens.last, last.pieces.upperBound == pieces.count {
                        tokens[tokens.count - 1].pieces = last.pieces.lowerBound..<pieces.count + 1
                    } else {
                        tokens.append(Token(kind: .numeric, pieces: pieces.count..<pieces.count + 1))
                    }
                }
                pieces.append(piece)
                i += width
            }
        }
    }

    private mutating func classify() {
        for t in tokens.indices {
            var (latin, foreign) = (false, false)
            var scripts = TwinScript.none
            for p in tokens[t].pieces where pieces[p].kind & Self.letter != 0 {
                if pieces[p].kind & Self.latin != 0 {
                    latin = true
                } else {
                    // Letters of no script do not make a mixture, but they are letters.
                    foreign = foreign || pieces[p].kind & Self.unscripted == 0
                    scripts.formUnion(TwinScript(of: pieces[p].scalar))
                }
            }
            latin = latin || scripts == [.cyrillic, .greek]
            tokens[t].kind = latin ? (foreign ? .mixed : .latin) : (foreign ? .foreign : .numeric)
        }
    }

    /// Replaces look-alike letters in words that mix scripts, and in words of look-alikes among Latin words.
    mutating func unmaskLetters(_ original: UnsafeBufferPointer<UInt8>) {
        for token in tokens where token.kind == .mixed {
            unmask(token, original)
        }
        guard tokens.contains(where: { $0.kind == .latin || $0.kind == .mixed }) else { return }
        for t in tokens.indices where tokens[t].kind == .foreign {
            let look = tokens[t].pieces.allSatisfy {
                pieces[$0].kind & (Self.letter | Self.latin) != Self.letter
                    || Self.look(of: pieces[$0], original, orCapital: false) != 0
            }
            if look { tokens[t].kind = .imitation }
        }
        // A stretch of imitations is read as its neighbours on both sides are; some words stand at an end of the text.
        var (before, t): (Token.Kind?, Int) = (nil, 0)
        while t < tokens.count {
            var next = t
            while next < tokens.count, !tokens[next].isOfLanguage { next += 1 }
            let after = next < tokens.count ? tokens[next].kind : nil
            if before ?? after != nil, before != .foreign, after != .foreign {
                for i in t..<next where tokens[i].kind == .imitation { unmask(tokens[i], original) }
            }
            before = after
            t = next + 1
        }
    }

    private mutating func unmask(_ token: Token, _ original: UnsafeBufferPointer<UInt8>) {
        var isLatin = true
        for p in token.pieces where pieces[p].kind & (Self.letter | Self.latin) == Self.letter {
            isLatin = isLatin && Self.look(of: pieces[p], original, orCapital: true) != 0
        }
        // An imitation may as well be what it is.
        let twins =
            token.kind == .imitation
            ? token.pieces.map { pieces[$0].kind & Self.letter == 0 ? 0 : pieces[$0].scalar }
            : twins(of: token, in: .cyrillic, original) ?? twins(of: token, in: .greek, original) ?? []
        for (p, twin) in zip(token.pieces, twins) where twin != 0 {
            // A word of letters that both scripts have is one of either.
            if isLatin {
                pieces[p].other = twin
            } else {
                // A Cyrillic word with some Latin letters in it is a Cyrillic word.
                pieces[p].scalar = twin
                pieces[p].kind = Self.letter
            }
        }
        if !isLatin, !twins.isEmpty { return }
        for p in token.pieces where pieces[p].kind & (Self.letter | Self.latin) == Self.letter {
            let look = Self.look(of: pieces[p], original, orCapital: true)
            guard look != 0 else { continue }
            pieces[p].scalar = UInt32(look)
            pieces[p].kind = Self.letter | Self.latin
        }
    }

    /// The letters of a word in a script that it has letters of, 0 for what is no letter; nil if some have no twin there.
    private func twins(
        of token: Token, in script: TwinScript, _ original: UnsafeBufferPointer<UInt8>
    ) -> [UInt32]? {
        var (twins, isOfScript): ([UInt32], Bool) = ([], false)
        for p in token.pieces {
            let piece = pieces[p]
            if piece.kind & Self.letter == 0 {
                twins.append(0)
            } else if TwinScript(of: piece.scalar) == script {
                twins.append(piece.scalar)
                isOfScript = true
            } else {
                let isLatin = piece.kind & Self.latin != 0
                let latin = isLatin ? piece.scalar : UInt32(Self.look(of: piece, original, orCapital: true))
                guard let twin = script.twin(of: latin) else { return nil }
                twins.append(twin)
            }
        }
        return isOfScript ? twins : nil
    }

    /// Reads digits as the letters they stand for, in words that have letters too.
    mutating func swapDigits() {
        for token in tokens where token.pieces.contains(where: { pieces[$0].kind & Self.letter != 0 }) {
            for p in token.pieces {
                guard let letter = Self.letter(forDigit: pieces[p].scalar) else { continue }
                pieces[p].isOne = pieces[p].scalar == 49
                pieces[p].scalar = UInt32(letter)
                pieces[p].kind = Self.letter | Self.latin
            }
        }
    }

    /// Writes the pieces back: without accents, and no letter more than twice in a row. `second` is another way to
    /// read the same, if there is one.
    func write(_ bytes: inout [UInt8], _ stretches: inout [Stretch], _ second: inout SecondReading) {
        bytes.removeAll(keepingCapacity: true)
        stretches.removeAll(keepingCapacity: true)
        var (last, run, beginning): (UInt32, Int, Int) = (0, 0, 0)
        for piece in pieces {
            let scalar = Self.base(of: piece.scalar)
            let isMark = piece.kind & Self.looseMark != 0
            if !isMark {
                run = scalar == last ? run + 1 : 1
                last = scalar
            }
            if isMark || run > 2 && piece.kind & Self.letter != 0 {
                // What is left out belongs to the letter before it.
                for i in beginning..<bytes.count {
                    stretches[i].end = max(stretches[i].end, piece.stretch.end)
                }
                if !isMark, beginning < bytes.count { second.skip(beginning) }
                continue
            }
            beginning = bytes.count
            appendScalar(scalar, to: &bytes)
            stretches.append(contentsOf: repeatElement(piece.stretch, count: bytes.count - beginning))
            if piece.other != 0 {
                second.read(beginning, as: Self.base(of: piece.other))
            } else if piece.isOne {
                second.readAsL(beginning)
            }
        }
        second.finish(bytes)
    }
}

extension LooseFold {
    private static let letter = Int32(CICU_LETTER)
    private static let number = Int32(CICU_NUMBER)
    private static let latin = Int32(CICU_LATIN)
    private static let unscripted = Int32(CICU_UNSCRIPTED)
    private static let looseMark = Int32(CICU_LOOSE_MARK)
    private static let inWord = Int32(CICU_LETTER | CICU_MARK | CICU_NUMBER)

    private static func kind(of scalar: UInt32) -> Int32 {
        switch scalar {
        case 97...122: letter | latin
        case 48...57: number
        case ..<0x80: 0
        case ..<UInt32(common.count): common[Int(scalar)].kind
        default: cicu_kind(scalar)
        }
    }

    /// The letter below all adornments.
    private static func base(of scalar: UInt32) -> UInt32 {
        switch scalar {
        case ..<0x80: scalar
        case ..<UInt32(common.count): common[Int(scalar)].base
        default: cicu_base(scalar)
        }
    }

    /// What ICU says of the scalars of Europe's alphabets, Hebrew and Arabic, to ask it once only.
    private static let common: [(kind: Int32, base: UInt32)] = (0..<0x700).map {
        (cicu_kind($0), cicu_base($0))
    }

    /// The letter of a scalar that nobody's language is written in: phonetic letters, small capitals,
    /// letters in black squares and circles.
    private static func decoratedLetter(_ scalar: UInt32, _ kind: Int32) -> UInt8? {
        switch scalar {
        case 0x1F150...0x1F169: return UInt8(97 + scalar - 0x1F150)
        case 0x1F170...0x1F189: return UInt8(97 + scalar - 0x1F170)
        case 0x250...0x2AF, 0x1D00...0x1DBF, 0xA730...0xA731, 0xA7AE...0xA7AF:
            let look = cicu_latin_look(scalar, false)
            return look == 0 ? nil : look
        default: return nil
        }
    }

    /// The Latin letter a piece can be mistaken for. The original decides: "Ν" is an N and "ν" a v.
    private static func look(
        of piece: Piece, _ original: UnsafeBufferPointer<UInt8>, orCapital: Bool
    ) -> UInt8 {
        let (scalar, width) = decodeScalar(original, at: Int(piece.stretch.start))
        let isAlone = Int(piece.stretch.start) + width == Int(piece.stretch.end)
        let look = isAlone ? cicu_latin_look(scalar, orCapital) : 0
        return look != 0 ? look : cicu_latin_look(piece.scalar, orCapital)
    }

    private static func letter(forDigit scalar: UInt32) -> UInt8? {
        switch scalar {
        case 48: UInt8(ascii: "o")
        case 49: UInt8(ascii: "i")
        case 51: UInt8(ascii: "e")
        case 52: UInt8(ascii: "a")
        case 53: UInt8(ascii: "s")
        case 54, 57: UInt8(ascii: "g")
        case 55: UInt8(ascii: "t")
        case 56: UInt8(ascii: "b")
        default: nil
        }
    }
}
