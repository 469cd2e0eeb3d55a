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
        let position: UInt32 =
            switch name {
            case .messageAdded: 0
            case .messageEdited: 1
            case .messageDeleted: 2
            case .memberJoined: 3
            case .memberLeft: 4
            case .memberUpdated: 5
            case .memberInvited: 6
            case .memberBanned: 7
            case .memberMuted: 8
            case .reactionAdded: 9
            case .reactionRemoved: 10
            case .channelAdded: 11
            case .channelUpdated: 12
            case .channelDeleted: 13
            case .channelFrozen: 14
            case .typingStarted: 15
            case .typingEnded: 16
            case .readHorizonMoved: 17
            case .delivered: 18
            case .started: 19
            case .serviceUp: 20
            case .serviceDown: 21
            }
        return 1 << position
    }
}
