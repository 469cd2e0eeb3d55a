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

extension CodingUserInfoKey {
    /// Whether what is read is one text, and no list or mapping.
    package static let isText = CodingUserInfoKey(rawValue: "isText")
}

/// A value to go on with after a mistake, so that those behind it show, too.
package protocol StandIn {
    static var standIn: Self { get }
}
