/// Text in the columns of a terminal.
package enum Columns {
    /// How many columns a text takes: two for most letters of East Asia and emoji, none for marks.
    package static func width(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width($1) }
    }

    /// The text with blanks behind it.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - self.width(text)))
    }

    /// Lines no wider than `width`, cut between words where that can be; those after the first begin with blanks.
    /// Control characters are shown as escapes.
    package static func wrapped(_ text: String, to width: Int, indent: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        func begin() {
            lines.append(line)
            line = String(repeating: " ", count: indent)
            used = indent
        }
        for (number, paragraph) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        {
            if number > 0 { begin() }
            var isFresh = true
            for word in shown(paragraph).split(separator: " ", omittingEmptySubsequences: false) {
                let size = self.width(word)
                if !isFresh {
                    if used + 1 + size > width {
                        begin()
                    } else {
                        line += " "
                        used += 1
                    }
                }
                isFresh = false
                for character in word {
                    let size = self.width(character)
                    if used + size > width, used > indent { begin() }
                    line.append(character)
                    used += size
                }
            }
        }
        lines.append(line)
        return lines
    }

    private static func shown(_ text: Substring) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return String(text) }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                shown += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// What would change the terminal or the order of the letters.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 32 || (127..<160).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // A selector asks for the coloured picture, which is wide.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return isWide(first.value) ? 2 : 1
    }

    /// The blocks that terminals show in two columns (East Asian Width W and F, roughly).
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F7E0...0x1F7EB, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            true
        case 0x231A, 0x231B, 0x23E9...0x23EC, 0x25FD, 0x25FE, 0x2614, 0x2615, 0x2648...0x2653, 0x267F, 0x2693,
            0x26A1, 0x26AA, 0x26AB, 0x26BD, 0x26BE, 0x26C4, 0x26C5, 0x26CE, 0x26D4, 0x26EA, 0x26F2, 0x26F3,
            0x26F5, 0x26FA, 0x26FD, 0x2705, 0x270A, 0x270B, 0x2728, 0x274C, 0x274E, 0x2753...0x2755, 0x2757,
            0x2795...0x2797, 0x27B0, 0x27BF, 0x2B1B, 0x2B1C, 0x2B50, 0x2B55:
            true
        default: false
        }
    }
}
