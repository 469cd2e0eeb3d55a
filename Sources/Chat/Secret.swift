/// Text that nobody should read in a log: it prints as `secret(…)`. In `config.yaml` it stands as a reference, such as
/// `${env:NAME}`, `${file:PATH}` or `${credential:NAME}`.
public struct Secret: Sendable, Decodable, Equatable, CustomStringConvertible, CustomReflectable {
    private let text: String

    public init(_ text: String) {
        self.text = text
    }

    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// The text itself, for the one place that needs it.
    public func reveal() -> String { text }

    public var description: String { "secret(…)" }

    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
