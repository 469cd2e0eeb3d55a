/// What is wrong with a plugin's settings.
public struct SettingsError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
