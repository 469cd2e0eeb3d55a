/// What is wrong with a plugin's settings.
public struct SettingsError: Error, CustomStringConvertible {
    /// In words for the person who wrote them, such as `keep must be at least 1m`.
    public let description: String

    /// The place in the file is added by whoever reads it.
    public init(_ description: String) {
        self.description = description
    }
}
