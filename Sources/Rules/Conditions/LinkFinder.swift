internal import Unicode

/// A link in a message, as far as conditions look at it.
struct Link: Sendable, Equatable {
    /// In lower case and ASCII, without trailing dot; as it was written if it is no host name.
    var host: String
    /// False for a bare word with a dot that is a link only to a rule that names its host: `yes.no`, `notes.txt`.
    var isSure: Bool

    /// The host and what it is a sub-domain of, the longest first.
    var domains: [Substring] {
        var domains = [host[...]]
        // No longer name can be looked up, and a text of dots must not be a long list.
        guard host.utf8.count <= 253 else { return domains }
        while let rest = domains[domains.count - 1].firstIndex(of: ".") {
            let domain = domains[domains.count - 1]
            domains.append(domain[domain.index(after: rest)...])
        }
        return domains
    }
}

/// Finds the links of a text: addresses with a scheme, and bare hosts.
struct LinkFinder {
    private let scalars: [Unicode.Scalar]
    private var links: [Link] = []

    /// `spelledOut`: "example (dot) org" and the like are links too.
    static func links(in text: String, spelledOut: Bool = false) -> [Link] {
        if !spelledOut, !mayHaveLinks(text) { return [] }
        var finder = LinkFinder(
            scalars: spelledOut ? SpelledOutDots.replaced(in: text) : Array(text.unicodeScalars))
        finder.find()
        return finder.links
    }

    private init(scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    /// Whether there is a dot between two letters, or "://". It says yes to little else.
    static func mayHaveLinks(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            var found: UInt8 = 0
            // No exits, so that the compiler makes vector code of it.
            for byte in bytes {
                found |= zero(byte ^ UInt8(ascii: ".")) | zero(byte ^ UInt8(ascii: ":"))
            }
            guard found & 0x80 != 0 else { return false }
            for (index, byte) in bytes.enumerated() where index > 0 && index + 1 < bytes.count {
                if byte == UInt8(ascii: "."), isInName(bytes[index - 1]), isInName(bytes[index + 1]) {
                    return true
                }
                if byte == UInt8(ascii: ":"), isSlash(bytes[index + 1]) { return true }
            }
            return false
        } ?? true
    }

    /// The highest bit is set for 0 and for nothing else that is ASCII.
    private static func zero(_ byte: UInt8) -> UInt8 { (byte &- 1) & ~byte }

    private static func isSlash(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        (byte | 32) &- 97 < 26 || byte &- 48 < 10 || byte >= 0x80 || byte == 45 || byte == 95
    }

    private mutating func find() {
        var i = 0
        while i < scalars.count {
            if let start = addressStart(at: i) {
                i = takeAddress(from: start)
            } else if scalars[i] == ".", i > 0, isNamePart(i - 1), isNamePart(i + 1) {
                i = takeBareHost(around: i)
            } else {
                i += 1
            }
        }
    }

    /// What stands behind the scheme that this colon ends, and its slashes. They may lean either way and, behind http
    /// and https, there may be one alone or more than two: a browser takes them all for two.
    private func addressStart(at colon: Int) -> Int? {
        guard scalars[colon] == ":", isSlash(colon + 1), let scheme = schemeStart(before: colon) else {
            return nil
        }
        var start = colon + 1
        while isSlash(start) { start += 1 }
        if start == colon + 2 {
            let name = String(String.UnicodeScalarView(scalars[scheme..<colon])).lowercased()
            guard name == "http" || name == "https" else { return nil }
        }
        return start
    }

    private func isSlash(_ i: Int) -> Bool { i < scalars.count && (scalars[i] == "/" || scalars[i] == "\\") }

    /// A scheme has two letters at least, so that "x://" stays a way to write.
    private func schemeStart(before colon: Int) -> Int? {
        var start = colon
        while start > 0, scalars[start - 1].isASCIIAlphanumeric { start -= 1 }
        return colon - start >= 2 && scalars[start].properties.isAlphabetic ? start : nil
    }

    // MARK: Addresses

    private mutating func takeAddress(from start: Int) -> Int {
        var end = start
        while end < scalars.count, !Self.endsAuthority(scalars[end]) { end += 1 }
        if end > start {
            let authority = Authority(scalars[start..<end])
            for host in authority.hosts where !host.text.isEmpty {
                add(String(String.UnicodeScalarView(host.text)), isSure: host.isSure)
            }
            if let cut = authority.cut { return cut }
        }
        while end < scalars.count, !Self.endsAddress(scalars[end]), !beginsAnother(at: end) { end += 1 }
        return max(end, start)
    }

    /// Whether a new address follows without a space: `[a](https://a.org)[b](https://b.org)`. One that is part of a
    /// path or query belongs to it.
    private func beginsAnother(at colon: Int) -> Bool {
        guard addressStart(at: colon) != nil, let scheme = schemeStart(before: colon), scheme > 0 else {
            return false
        }
        return ",;|()[]{}!*'`".unicodeScalars.contains(scalars[scheme - 1])
    }

    private static func endsAddress(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 32 || scalar == "<" || scalar == ">" || scalar == "\""
            || scalar.properties.isWhitespace
    }

    private static func endsAuthority(_ scalar: Unicode.Scalar) -> Bool {
        endsAddress(scalar) || "/\\?#()[{}|`',;!*".unicodeScalars.contains(scalar) && scalar != "["
    }

    // MARK: Bare hosts

    private mutating func takeBareHost(around dot: Int) -> Int {
        let start = hostStart(before: dot)
        let end = hostEnd(after: dot)
        let before = start > 0 ? scalars[start - 1] : " "
        let isInPath = before == "/" && !(start > 1 && scalars[start - 2] == "/") || before == "\\"
        let isMail = before == "@" || end < scalars.count && scalars[end] == "@"
        if before == "." || isInPath || isMail { return end }
        let host = String(String.UnicodeScalarView(scalars[start..<end]))
        let labels = host.split(separator: ".")
        guard labels.count >= 2, let last = labels.last else { return end }
        let hasPath = end < scalars.count && (scalars[end] == "/" || isPort(end))
        add(host, isSure: Self.isSure(labels, last, hasPath: hasPath))
        return end
    }

    private static func isSure(_ labels: [Substring], _ last: Substring, hasPath: Bool) -> Bool {
        if labels[0].lowercased() == "www", labels.count > 2 { return true }
        let kind = HostSuffixes.kind(of: last.lowercased())
        // "end.Next sentence": a capital after the dot begins something new.
        let beginsSentence =
            last.first?.isUppercase == true && labels[labels.count - 2].last?.isUppercase != true
        switch kind {
        case .known: return !beginsSentence || hasPath
        case .word: return hasPath
        case .unknown: return false
        }
    }

    private func isPort(_ colon: Int) -> Bool {
        scalars[colon] == ":" && colon + 1 < scalars.count && ("0"..."9").contains(scalars[colon + 1])
    }

    private func isNamePart(_ i: Int) -> Bool {
        scalars.indices.contains(i) && (isNarrow(i) || isWide(i))
    }

    /// Letters of scripts that put spaces between words.
    private func isNarrow(_ i: Int) -> Bool {
        let scalar = scalars[i]
        if scalar.value < 0x80 { return scalar.isASCIIAlphanumeric || scalar == "-" || scalar == "_" }
        return scalar.value < 0xE00 && scalar.isLetterOrMark
    }

    /// Letters of the others; they belong to a host only when they touch its dot.
    private func isWide(_ i: Int) -> Bool { scalars[i].value >= 0xE00 && scalars[i].isLetterOrMark }

    private func hostStart(before dot: Int) -> Int {
        var start = dot
        while start > 0 {
            let first = start
            while start > 0, isNarrow(start - 1) { start -= 1 }
            if start == first { while start > 0, isWide(start - 1) { start -= 1 } }
            guard start > 1, scalars[start - 1] == ".", isNamePart(start - 2) else { break }
            start -= 1
        }
        return start
    }

    private func hostEnd(after dot: Int) -> Int {
        var end = dot + 1
        while end < scalars.count {
            let first = end
            while end < scalars.count, isNarrow(end) { end += 1 }
            if end == first { while end < scalars.count, isWide(end) { end += 1 } }
            guard end + 1 < scalars.count, scalars[end] == ".", isNamePart(end + 1) else { break }
            end += 1
        }
        return end
    }

    private mutating func add(_ written: String, isSure: Bool) {
        let host = written.percentDecoded
        // Joiners make no name, and where they are not shown it looks like one.
        let name = asciiHost(host) ?? asciiHost(host.withoutJoiners)
        links.append(Link(host: name ?? host.lowercased(), isSure: isSure))
    }
}

/// Dots that people write out so that a filter does not see them: "example (dot) org", "example[.]org".
private enum SpelledOutDots {
    static func replaced(in text: String) -> [Unicode.Scalar] {
        let scalars = Array(text.unicodeScalars)
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(scalars.count)
        var i = 0
        while i < scalars.count {
            if let end = dot(in: scalars, at: i) {
                while let last = result.last, last.properties.isWhitespace { result.removeLast() }
                result.append(".")
                i = end
            } else {
                result.append(scalars[i])
                i += 1
            }
        }
        return result
    }

    private static let closing: [Unicode.Scalar: Unicode.Scalar] = ["(": ")", "[": "]", "{": "}"]

    /// The end of a spelled-out dot that begins there, with the white space behind it.
    private static func dot(in text: [Unicode.Scalar], at start: Int) -> Int? {
        var i = start
        if let close = closing[text[i]] {
            i = skipSpace(text, i + 1)
            guard let end = word(text, i) else { return nil }
            i = skipSpace(text, end)
            guard i < text.count, text[i] == close else { return nil }
            return skipSpace(text, i + 1)
        }
        guard start > 0, text[start - 1].properties.isWhitespace, let end = word(text, i), end < text.count,
            text[end].properties.isWhitespace
        else { return nil }
        return skipSpace(text, end)
    }

    private static func word(_ text: [Unicode.Scalar], _ i: Int) -> Int? {
        if i < text.count, text[i] == "." { return i + 1 }
        guard i + 2 < text.count else { return nil }
        let letters = text[i...i + 2].map { $0.properties.lowercaseMapping }.joined()
        return letters == "dot" ? i + 3 : nil
    }

    private static func skipSpace(_ text: [Unicode.Scalar], _ start: Int) -> Int {
        var i = start
        while i < text.count, text[i].properties.isWhitespace, text[i] != "\n" { i += 1 }
        return i
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIAlphanumeric: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }

    fileprivate var isLetterOrMark: Bool {
        properties.isAlphabetic || properties.generalCategory == .nonspacingMark
    }
}

extension String {
    fileprivate var withoutJoiners: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0 != "\u{200C}" && $0 != "\u{200D}" }))
    }

    /// With `%2e` and the like read as a browser reads them.
    fileprivate var percentDecoded: String {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        var bytes: [UInt8] = []
        let all = Array(utf8)
        var i = 0
        while i < all.count {
            if all[i] == UInt8(ascii: "%"), i + 2 < all.count,
                let byte = UInt8(String(decoding: all[i + 1...i + 2], as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                i += 3
            } else {
                bytes.append(all[i])
                i += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
