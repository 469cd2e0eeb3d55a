internal import Chat

extension ChatEvent {
    /// Something that a service told, in contrast to what steward itself says.
    var isFromOutside: Bool {
        switch digest.name {
        case .started, .serviceUp, .serviceDown, nil: false
        default: true
        }
    }

    /// The event among all of its realm: ids are unique in a channel only.
    var identity: String { (channel?.id.text ?? "") + "\u{1F}" + id }
}

extension ChatAction {
    /// It says something that somebody may answer.
    var isTalk: Bool {
        switch verb {
        case .send, .reply, .direct: true
        default: false
        }
    }
}
