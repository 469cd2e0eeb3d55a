internal import Unicode

/// What stands behind the slashes of an address, up to what ends it in every script: `ana@example.org:80`.
///
/// People write on behind a host without a space: “http://example.org”, http://example.org’s. A host ends at the first
/// sign that none can have. What a browser may take for the host all the same is another one.
struct Authority {
    typealias Scalars = ArraySlice<Unicode.Scalar>

    /// The hosts it can be read as, and whether it is sure that somebody gets there.
    private(set) var hosts: [(text: Scalars, isSure: Bool)] = []
    /// Where the sign stands that no host can have.
    private(set) var cut: Int?

    init(_ text: Scalars) {
        var rest = text
        // In brackets stands a number, and no name.
        if Self.name(rest).first == "[" {
            hosts = [(Self.name(rest), true)]
            return
        }
        cut = rest.firstIndex(where: Self.isOutside)
        guard let cut else {
            hosts = [(Self.host(rest), true)]
            return
        }
        let first = Self.host(rest[..<cut])
        rest = rest[cut...]
        // Behind "@" a browser looks for the host, whatever stands before it.
        var isSure = false
        if let at = rest.lastIndex(of: "@") {
            rest = rest[(at + 1)...]
            isSure = true
        }
        while let start = isSure ? rest.startIndex : Self.nextStart(in: rest) {
            let next = rest[start...]
            let end = next.firstIndex(where: Self.isOutside) ?? next.endIndex
            let host = Self.host(next[..<end])
            if isSure ? Self.mayLeadOn(host) : host.contains(where: Self.isDot) {
                hosts.append((host, isSure || Self.isKnown(host)))
            }
            rest = next[end...]
            isSure = false
        }
        // What is written as a number may be a dot.
        if Self.hasNumber(text) { hosts.append((Self.host(text), true)) }
        if hosts.isEmpty || first.contains(where: Self.isDot) { hosts.insert((first, true), at: 0) }
    }

    /// Where a host goes on, as a browser reads it, that cannot be seen as one by itself: behind a sign and a dot.
    private static func nextStart(in text: Scalars) -> Int? {
        let dot = text.indices.first { i in
            isDot(text[i]) && (text[i] != "." || i == text.startIndex || !text[i - 1].isInName)
        }
        return dot.flatMap { dot in text[dot...].firstIndex { !isDot($0) } }
    }

    /// Whether a browser that is told to go there leaves this machine.
    private static func mayLeadOn(_ host: Scalars) -> Bool {
        host.contains { isDot($0) || $0 == "%" } || host.first?.properties.numericType != nil
    }

    private static func hasNumber(_ text: Scalars) -> Bool {
        zip(text, text.dropFirst()).contains { $0 == "%" && $1.properties.isASCIIHexDigit }
    }

    private static func isKnown(_ host: Scalars) -> Bool {
        let last = host[((host.lastIndex(where: isDot) ?? host.startIndex - 1) + 1)...]
        return HostSuffixes.kind(of: String(String.UnicodeScalarView(last)).lowercased()) != .unknown
    }

    // MARK: Hosts

    /// Without the name of a user and the port.
    private static func name(_ text: Scalars) -> Scalars {
        var text = text
        // What stands before an "@" is the name of a user, however much it looks like a host.
        if let at = text.lastIndex(of: "@") { text = text[(at + 1)...] }
        if text.first == "[" { return text[...(text.firstIndex(of: "]") ?? text.endIndex - 1)] }
        if let colon = text.lastIndex(of: ":") { text = text[..<colon] }
        return text
    }

    /// Without what no name ends in, and what no top-level domain has in it: example.org..., example.org_, example.org👍.
    private static func host(_ text: Scalars) -> Scalars {
        var host = name(text)
        while host.count > 1, let last = host.last, last == "-" || isDot(last) { host.removeLast() }
        guard !host.contains("%") else { return host }
        let label = host.lastIndex(where: isDot).map { $0 + 1 } ?? host.startIndex
        guard let sign = host[label...].firstIndex(where: isSign), sign > label, label > host.startIndex
        else {
            return host
        }
        // A number with a dot in one sign would make another host of it.
        let tail = String(String.UnicodeScalarView(host[sign...]))
        return tail.folded().contains(".") ? host : host[..<sign]
    }

    // MARK: Signs

    /// The dots of a host name, and those that become one.
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2E, 0x2024, 0x3002, 0xFE52, 0xFF0E, 0xFF61: true
        default: false
        }
    }

    /// Punctuation that stands in no host name: quotes, dashes, and the commas and brackets of all scripts.
    private static func isOutside(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x5B, 0x5D: true
        case ..<0x80: false
        // Those that names of some languages have, and wide hyphens and low lines.
        case 0xB7, 0x387, 0x5F3, 0x5F4, 0xF0B, 0x30FB, 0xFF65, 0xFE63, 0xFF0D, 0xFF3F: false
        default: scalar.isPunctuation && !isDot(scalar)
        }
    }

    private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0xFE63, 0xFF0D: false
        default: scalar.isPunctuation || scalar.isSymbol
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isInName: Bool {
        self == "-" || self == "_" || properties.isAlphabetic || properties.numericType != nil
            || properties.generalCategory == .nonspacingMark
    }

    fileprivate var isPunctuation: Bool {
        switch properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }

    fileprivate var isSymbol: Bool {
        switch properties.generalCategory {
        case .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol: true
        default: false
        }
    }
}
