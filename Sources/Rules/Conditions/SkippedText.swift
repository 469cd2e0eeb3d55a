internal import Unicode

/// Takes links, code and quotes out of a message's text.
enum SkippedText {
    /// Stands where something was taken out, so that what was apart does not become one phrase.
    static let separator: UInt8 = 1

    private static let schemes = ["http", "https", "ftp", "ftps", "ws", "wss"].map { Array($0.utf8) }

    /// The text without what is skipped; nil when there is nothing of the kind, which is the usual case.
    static func removing(_ skip: Set<BotText.Skip>, from text: String) -> String? {
        removing(skip, from: text, marks: TextMarks(of: text))
    }

    /// The same for a text that was looked at before.
    static func removing(_ skip: Set<BotText.Skip>, from text: String, marks: TextMarks) -> String? {
        guard !skip.isEmpty, marks.has(.markup) else { return nil }
        var bytes = Array(text.utf8)
        var found = false
        if skip.contains(.code) { found = blankCode(&bytes) || found }
        if skip.contains(.quotes) { found = blankQuotes(&bytes) || found }
        if skip.contains(.links) { found = blankLinks(&bytes) || found }
        guard found else { return nil }
        let isEdge = { (byte: UInt8) in byte == separator || byte <= 32 }
        let kept = bytes.drop(while: isEdge)
        return String(
            decoding: kept.prefix(
                (kept.lastIndex { !isEdge($0) } ?? kept.startIndex - 1) - kept.startIndex + 1), as: UTF8.self)
    }

    /// The text without control characters, which nobody sees and which would part a word; nil when it has none.
    static func removingControls(from text: String, marks: TextMarks) -> String? {
        guard marks.has(.controls) else { return nil }
        let kept = text.unicodeScalars.filter { !isControl($0) }
        return kept.count == text.unicodeScalars.count ? nil : String(String.UnicodeScalarView(kept))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 9...13, 0x85: false
        case 0..<32, 0x7F...0x9F: true
        default: false
        }
    }

    /// A piece of a text that something was taken out of, without the marks of that.
    static func unmarked(_ text: String) -> String {
        text.utf8.contains(separator)
            ? String(text.unicodeScalars.filter { $0.value != UInt32(separator) }) : text
    }

    /// Spans and fences between equal runs of backticks; a run without partner is no code.
    private static func blankCode(_ bytes: inout [UInt8]) -> Bool {
        let tick = UInt8(ascii: "`")
        var runs: [(start: Int, length: Int)] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == tick else {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, bytes[index] == tick { index += 1 }
            runs.append((start, index - start))
        }
        guard runs.count > 1 else { return false }
        // For each length of run, the places from the last to the first, so that finding a partner takes no search.
        var later: [Int: [Int]] = [:]
        for (number, run) in runs.enumerated().reversed() { later[run.length, default: []].append(number) }
        var found = false
        var number = 0
        while number < runs.count {
            let run = runs[number]
            while let last = later[run.length]?.last, last <= number { later[run.length]?.removeLast() }
            guard let partner = later[run.length]?.last else {
                number += 1
                continue
            }
            blank(&bytes, run.start..<(runs[partner].start + runs[partner].length))
            found = true
            number = partner + 1
        }
        return found
    }

    /// Lines that begin with `>`.
    private static func blankQuotes(_ bytes: inout [UInt8]) -> Bool {
        var found = false
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 10) ?? bytes.count
            let first = bytes[start..<end].first { $0 != 32 && $0 != 9 }
            if first == UInt8(ascii: ">") {
                blank(&bytes, start..<end)
                found = true
            }
            start = end + 1
        }
        return found
    }

    /// Addresses with a scheme, and those that begin with `www.`.
    private static func blankLinks(_ bytes: inout [UInt8]) -> Bool {
        var found = false
        var index = 0
        while index < bytes.count {
            var start: Int?
            if bytes[index] == UInt8(ascii: ":"), index + 2 < bytes.count,
                bytes[index + 1] == UInt8(ascii: "/"),
                bytes[index + 2] == UInt8(ascii: "/")
            {
                start = scheme(bytes, before: index)
            } else if bytes[index] | 32 == UInt8(ascii: "w"), index + 4 < bytes.count,
                bytes[index + 1] | 32 == UInt8(ascii: "w"), bytes[index + 2] | 32 == UInt8(ascii: "w"),
                bytes[index + 3] == UInt8(ascii: "."), index == 0 || !isLetter(bytes[index - 1])
            {
                start = index
            }
            guard let start else {
                index += 1
                continue
            }
            var end = index
            while end < bytes.count, !endsLink(bytes[end]) { end += 1 }
            blank(&bytes, start..<end)
            found = true
            index = end
        }
        return found
    }

    private static func scheme(_ bytes: [UInt8], before colon: Int) -> Int? {
        var start = colon
        while start > 0, colon - start < 6, isLetter(bytes[start - 1]) { start -= 1 }
        let word = bytes[start..<colon].map { $0 | 32 }
        return schemes.contains(word) ? start : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte | 32 >= 97 && byte | 32 <= 122 }

    private static func endsLink(_ byte: UInt8) -> Bool {
        byte <= 32 || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\"")
            || byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]")
    }

    private static func blank(_ bytes: inout [UInt8], _ range: Range<Int>) {
        for index in range where bytes[index] != 10 { bytes[index] = separator }
    }
}
