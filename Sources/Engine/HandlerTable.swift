package import Chat

/// The handlers in the order in which they are asked; immutable, swapped as a whole at a reload.
package struct HandlerTable: Sendable {
    struct Entry: Sendable {
        let handler: any EventHandler
        let name: String
        /// A bit for each kind of event it wants.
        let wants: UInt32
    }

    let stages: [[Entry]]

    /// Handlers of one stage keep their order.
    package init(_ handlers: [any EventHandler]) {
        stages = Stage.allCases.map { stage in
            handlers.filter { $0.stage == stage }.map {
                Entry(handler: $0, name: $0.name, wants: Self.bits($0.needs.events))
            }
        }
    }

    func handlers(resuming owner: String) -> [Entry] {
        stages.joined().filter { $0.handler.resumes(owner: owner) }
    }

    private static func bits(_ names: Set<EventName>?) -> UInt32 {
        names.map { $0.reduce(0) { $0 | bit(of: $1) } } ?? .max
    }

    static func bit(of name: EventName) -> UInt32 {
        1 << UInt32(name.number)
    }
}
