internal import Glibc

/// Finds who is called in a text: `@name`, where no letter stands before the `@`.
enum MentionFinder {
    /// Names that call everyone.
    static let everyone: Set<String> = ["everyone", "here", "all", "channel", "room"]

    /// Each name once, in lower case, in the order of the text.
    static func names(in text: String) -> [String] {
        // One call that looks at many bytes at once: nearly all texts call nobody.
        let mayCall = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 64, bytes.count) != nil } ?? false
        }
        guard mayCall ?? true else { return [] }
        let scalars = Array(text.unicodeScalars)
        var names: [String] = []
        var known: Set<String> = []
        var i = 0
        while i < scalars.count {
            guard scalars[i] == "@", i == 0 || !isInName(scalars[i - 1]) || scalars[i - 1] == "." else {
                i += 1
                continue
            }
            var end = i + 1
            while end < scalars.count, isInName(scalars[end]) { end += 1 }
            var last = end
            while last > i + 1, scalars[last - 1] == "." || scalars[last - 1] == "-" { last -= 1 }
            if last > i + 1 {
                let name = String(String.UnicodeScalarView(scalars[(i + 1)..<last])).lowercased()
                if known.insert(name).inserted { names.append(name) }
            }
            i = end
        }
        return names
    }

    private static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x80 {
            return scalar == "_" || scalar == "-" || scalar == "." || ("a"..."z").contains(scalar)
                || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        }
        return TemplatePath.isPart(scalar) || scalar.properties.generalCategory == .nonspacingMark
    }
}
