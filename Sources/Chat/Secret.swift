/// Text that nobody should read in a log: it prints as `secret(…)`. In `config.yaml` it stands as a reference, such as
/// `${env:NAME}`, `${file:PATH}` or `${credential:NAME}`.
public struct Secret: Sendable, Decodable, Equatable, CustomStringConvertible, CustomReflectable {
    private let text: String

    /// The text itself, and not a reference to it.
    public init(_ text: String) {
        self.text = text
    }

    /// Reads one string; references were replaced before.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// The text itself, for the one place that needs it.
    public func reveal() -> String { text }

    /// Always `secret(…)`.
    public var description: String { "secret(…)" }

    /// Shows nothing of it to `dump` and debuggers' summaries.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
