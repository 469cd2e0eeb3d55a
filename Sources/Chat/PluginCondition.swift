/// A condition that a plugin offers to rules: `if: {plugin: {last-seen: {seen_within: 1h}}}`.
public struct PluginCondition: Sendable {
    /// Asked about each event of the rule for which all cheaper conditions hold; it takes microseconds and waits for
    /// nothing.
    public typealias Question = @Sendable (ChatEvent, Situation) -> Bool

    /// Unique in its plugin: lower case, with `_` between words.
    public let name: String
    /// One line for the manual.
    public let about: String
    /// Reads what a rule writes behind the name, once, when the rules are loaded; empty when there is nothing. Throws
    /// what is wrong with it, in words for the person who wrote it.
    public let read: @Sendable (String) throws -> Question

    /// `read` is called once for each place where a rule uses it.
    public init(_ name: String, _ about: String, read: @escaping @Sendable (String) throws -> Question) {
        self.name = name
        self.about = about
        self.read = read
    }
}
