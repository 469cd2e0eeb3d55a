internal import CICU

/// Letters that stand alone, one after the other, with spaces or punctuation between them.
enum SingleLetters {
    struct Run {
        /// From the first letter to the last, in bytes.
        var range: Range<Int>
        /// The bytes that are letters.
        var letters: Set<Int>
    }

    /// Between two letters there may be so many bytes of something else.
    private static let widest = 8

    /// Runs of two letters and more.
    static func runs(in bytes: [UInt8]) -> [Run] {
        bytes.withUnsafeBufferPointer { text in
            var runs: [Run] = []
            var run: Run?
            var i = 0
            func end() {
                if let last = run, last.letters.count > 1, last.isOfSeveral(text) { runs.append(last) }
                run = nil
            }
            while i < text.count {
                let start = i
                var letters = 0
                while i < text.count {
                    let (scalar, width) = decodeScalar(text, at: i)
                    let kind = cicu_kind(scalar)
                    guard kind & Int32(CICU_LETTER | CICU_MARK | CICU_NUMBER) != 0 else { break }
                    if kind & Int32(CICU_MARK) == 0 { letters += 1 }
                    i += width
                }
                if letters == 1 {
                    if let last = run, start - last.range.upperBound > widest { end() }
                    // In place: to copy the letters for each would take time by the square of the text.
                    if run == nil { run = Run(range: start..<i, letters: []) }
                    let first = run?.range.lowerBound ?? start
                    run?.range = first..<i
                    run?.letters.formUnion(start..<i)
                } else if letters > 1 {
                    end()
                }
                if i < text.count {
                    let (scalar, width) = decodeScalar(text, at: i)
                    // What was taken out of a text parts what stands on its two sides.
                    if scalar == 1 { end() }
                    i += width
                }
            }
            end()
            return runs
        }
    }
}

extension SingleLetters.Run {
    /// Whether there are two letters at least; one may have several bytes.
    fileprivate func isOfSeveral(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        letters.count { text[$0] & 0xC0 != 0x80 } > 1
    }
}
