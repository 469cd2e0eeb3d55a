internal import Chat
internal import JSON

extension World {
    /// Adds a reaction of `identity`, or takes it back; nil does what was not done. Reactions live in the message's
    /// attributes: `{"reactions":{"👍":["ana"]}}`.
    mutating func react(
        _ reaction: String, _ isThere: Bool?, to message: SID, in sid: SID, as identity: String,
        at now: Timestamp
    ) throws(WorldError) -> Message {
        guard (1...64).contains(reaction.utf8.count) else { throw .invalid("that is no reaction") }
        guard let old = channels[sid]?.message(message) else { throw .noSuchMessage }
        let wasThere = old.reactions[reaction]?.array?.contains(.string(identity)) ?? false
        let isThere = isThere ?? !wasThere
        guard isThere != wasThere else { return old }
        let reacted = Message.Reacted(reaction: reaction, by: identity, isThere: isThere)
        return try annotate(message, in: sid, as: identity, at: now, reacted: reacted) { text in
            // Attributes are an object or, rarely, something else that has no room for reactions.
            guard var attributes = (try? JSON(parsing: text)).map({ $0.object ?? JSONObject() }) else {
                return text
            }
            var reactions = attributes["reactions"]?.object ?? JSONObject()
            let people = reactions[reaction]?.array ?? []
            let after = isThere ? people + [.string(identity)] : people.filter { $0 != .string(identity) }
            reactions[reaction] = after.isEmpty ? nil : .array(after)
            attributes["reactions"] = reactions.isEmpty ? nil : .object(reactions)
            return JSON.object(attributes).description
        }
    }
}

extension Message {
    /// Who reacted how: lists of names by reaction.
    var reactions: JSONObject {
        guard content.attributes != "{}" else { return JSONObject() }
        return (try? JSON(parsing: content.attributes))?["reactions"]?.object ?? JSONObject()
    }
}
