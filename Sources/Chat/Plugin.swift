/// An event handler written in Swift, with a name and settings of its own in `config.yaml`.
public protocol Plugin: EventHandler {
    /// What stands under `settings:`. A key without an optional type is required; unknown keys are errors.
    associatedtype Settings: Decodable & Sendable

    /// Throws what is wrong with the settings, in words for the person who wrote them.
    init(settings: Settings) throws

    /// What rules may ask it for; nothing unless it says so.
    var conditions: [PluginCondition] { get }
}

extension Plugin {
    /// None.
    public var conditions: [PluginCondition] { [] }
}
