/// A mistake in a service's settings that only the service can see, and where it stands below the account.
///
/// The words do not repeat the value, which may be a secret: whoever shows them puts what is written before them.
package struct SettingsFinding: Sendable, Equatable {
    /// Keys from the account down, such as `["token", "sign", "key"]`.
    package var path: [String]
    package var problem: String
    /// The way out.
    package var hint: String?
    /// Holds only where the value is written out: a reference to a secret kept elsewhere is fine.
    package var isAboutSecret: Bool

    package init(_ path: [String], _ problem: String, hint: String? = nil, isAboutSecret: Bool = false) {
        self.path = path
        self.problem = problem
        self.hint = hint
        self.isAboutSecret = isAboutSecret
    }

    /// A name that has not 1 to so many characters.
    static func name(_ name: String, _ path: [String], most: Int = 256) -> SettingsFinding? {
        (1...most).contains(name.count) ? nil : SettingsFinding(path, "has not 1 to \(most) characters")
    }

    /// The same for each of a list.
    static func names(_ names: [String]?, _ key: String, most: Int = 256) -> [SettingsFinding] {
        (names ?? []).enumerated().compactMap { name($1, [key, "\($0)"], most: most) }
    }

    /// An `endpoint` that is no WebSocket's; `path` is what stands behind its host.
    static func endpoint(_ endpoint: String, path: String = "") -> SettingsFinding? {
        guard let scheme = ["ws://", "wss://"].first(where: { endpoint.hasPrefix($0) }) else {
            let usual = endpoint.hasPrefix("http://") ? "ws" : "wss"
            return SettingsFinding(
                ["endpoint"], "does not begin with ws:// or wss://", hint: "write \(usual)://HOST\(path)")
        }
        let host = endpoint.dropFirst(scheme.count).prefix { $0 != "/" }
        guard host.isEmpty || host.contains(" ") else { return nil }
        return SettingsFinding(["endpoint"], "names no host", hint: "write \(scheme)HOST\(path)")
    }

    func below(_ key: String) -> SettingsFinding {
        var finding = self
        finding.path.insert(key, at: 0)
        return finding
    }
}

/// Settings that can be read but not used.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    init(_ finding: SettingsFinding) {
        description =
            "\(finding.path.joined(separator: ".")) \(finding.problem)"
            + (finding.hint.map { " - \($0)" } ?? "")
    }
}

extension Character {
    /// Part of a host's name between its dots.
    var isHostLetter: Bool { isASCII && (isLetter || isNumber || self == "-") }
}

extension CodingUserInfoKey {
    /// Whether what is read is one text, and no list or mapping.
    package static let isText = CodingUserInfoKey(rawValue: "isText")
}

/// A value to go on with after a mistake, so that those behind it show, too.
package protocol StandIn {
    static var standIn: Self { get }
}
