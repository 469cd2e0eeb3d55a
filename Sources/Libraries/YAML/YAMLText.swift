/// Bytes to code points and back, with the places of what YAML does not allow.
enum YAMLText {
    private static let maximumErrors = 20

    /// Characters that may not be in a file come back as U+FFFD, so that all places stay as they are.
    static func decode(_ bytes: [UInt8]) -> ([Unicode.Scalar], [YAMLError]) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return ([], [YAMLError(at: .start, "the file is UTF-16", hint: "save it as UTF-8")])
        }
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(bytes.count)
        var errors: [YAMLError] = []
        var place = YAMLPlace.start
        var decoder = Unicode.UTF8()
        var iterator =
            bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...].makeIterator() : bytes[...].makeIterator()
        decoding: while true {
            let problem: String?
            var scalar: Unicode.Scalar = "\u{FFFD}"
            switch decoder.decode(&iterator) {
            case .emptyInput: break decoding
            case .error: problem = "this is not valid UTF-8"
            case .scalarValue(let value):
                scalar = value
                problem = isAllowed(value) ? nil : "the character U+\(hex(value)) is not allowed here"
            }
            if let problem {
                if errors.count < maximumErrors { errors.append(YAMLError(at: place, problem)) }
                scalar = "\u{FFFD}"
            }
            if scalar == "\n", scalars.last == "\r" {
                // The second half of one line break.
            } else if YAMLSource.isBreak(scalar) {
                place = YAMLPlace(line: place.line + 1, column: 1)
            } else {
                place.column += 1
            }
            scalars.append(scalar)
        }
        return (scalars, errors)
    }

    static func encode(_ scalars: [Unicode.Scalar]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(scalars.count)
        for scalar in scalars { bytes.append(contentsOf: UTF8.encode(scalar)!) }
        return bytes
    }

    /// Puts a harmless scalar of the same length over what could not be read.
    static func replace(_ scalars: inout [Unicode.Scalar], at place: YAMLPlace, length: Int) {
        var index = 0
        var line = 1
        while line < place.line, index < scalars.count {
            if YAMLSource.isBreak(scalars[index]) {
                if scalars[index] == "\r", index + 1 < scalars.count, scalars[index + 1] == "\n" {
                    index += 1
                }
                line += 1
            }
            index += 1
        }
        index += place.column - 1
        for offset in index..<min(index + length, scalars.count) { scalars[offset] = "x" }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF:
            scalar != "\u{FEFF}"
        default: false
        }
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
