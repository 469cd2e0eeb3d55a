package import Chat

/// The handlers in the order in which they are asked; immutable, swapped as a whole at a reload.
package struct HandlerTable: Sendable {
    final class Entry: Sendable {
        let handler: any EventHandler
        let name: String
        let stage: Stage
        /// A bit for each kind of event it wants.
        let wants: UInt32

        init(_ handler: any EventHandler) {
            self.handler = handler
            name = handler.name
            stage = handler.stage
            wants = handler.needs.events.map { $0.reduce(0) { $0 | HandlerTable.bit(of: $1) } } ?? .max
        }
    }

    /// Stage after stage.
    let entries: [Entry]
    /// Whether one of them asks for what was written lately.
    let looksBack: Bool
    /// Those that want to be told of the past.
    let recalling: [any RecallingHandler]

    /// Handlers of one stage keep their order.
    package init(_ handlers: [any EventHandler]) {
        entries = Stage.allCases.flatMap { stage in
            handlers.filter { $0.stage == stage }.map { Entry($0) }
        }
        looksBack = handlers.contains { $0.needs.looksBack }
        recalling = handlers.compactMap { $0 as? any RecallingHandler }
    }

    func handlers(resuming owner: String) -> [Entry] {
        entries.filter { $0.handler.resumes(owner: owner) }
    }

    static func bit(of name: EventName) -> UInt32 {
        1 << UInt32(name.number)
    }
}
