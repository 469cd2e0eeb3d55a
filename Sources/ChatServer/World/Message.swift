package import Chat

/// What somebody wrote, as it is at one moment; an edit makes a new one.
///
/// A class, because the channel, the feed's log and events on their way all hold the same message.
package final class Message: Sendable {
    package let sid: SID
    /// Its place in the channel; never given twice.
    package let index: Int64
    /// Its place among all messages of the world; grows with time and is never given twice in a channel.
    package let number: Int64
    package let author: String
    /// The membership it was written in.
    package let member: SID
    package let posted: Timestamp
    package let content: Content
    package let updated: Timestamp
    package let updatedBy: String?
    /// Whether its words changed since; reactions are no edit.
    package let isEdited: Bool
    /// The reaction that made this value of what was before; nil for other changes.
    let reacted: Reacted?
    let addedEvent: Int64
    let lastEvent: Int64

    /// A reaction that came or was taken back.
    struct Reacted: Sendable, Equatable {
        let reaction: String
        let by: String
        let isThere: Bool
    }

    /// The part that an edit changes.
    package struct Content: Sendable, Equatable {
        package var body: String?
        package var subject: String?
        /// JSON text.
        package var attributes = "{}"
        package var medias: [Media] = []
        package var contentSID: String?
        /// What its author's page calls it, so that a message sent again is known.
        package var key: String?
        /// What some clients say of a message and others do not know of.
        var traits = MessageTraits()

        package init(
            body: String?, subject: String? = nil, attributes: String = "{}", medias: [Media] = [],
            contentSID: String? = nil, key: String? = nil
        ) {
            self.body = body
            self.subject = subject
            self.attributes = attributes
            self.medias = medias
            self.contentSID = contentSID
            self.key = key
        }
    }

    init(
        sid: SID, index: Int64, number: Int64, author: String, member: SID, posted: Timestamp,
        content: Content, updated: Timestamp, updatedBy: String?, isEdited: Bool = false,
        reacted: Reacted? = nil, addedEvent: Int64, lastEvent: Int64
    ) {
        self.sid = sid
        self.index = index
        self.number = number
        self.author = author
        self.member = member
        self.posted = posted
        self.content = content
        self.updated = updated
        self.updatedBy = updatedBy
        self.isEdited = isEdited
        self.reacted = reacted
        self.addedEvent = addedEvent
        self.lastEvent = lastEvent
    }

    func edited(
        _ content: Content, by editor: String, at now: Timestamp, event: Int64, reacted: Reacted? = nil
    ) -> Message {
        Message(
            sid: sid, index: index, number: number, author: author, member: member, posted: posted,
            content: content, updated: now, updatedBy: editor,
            isEdited: isEdited || content.body != self.content.body, reacted: reacted,
            addedEvent: addedEvent, lastEvent: event)
    }
}

/// A file that was uploaded; its bytes are kept elsewhere.
package struct Media: Sendable, Equatable {
    package let sid: SID
    package let category: String
    package let filename: String?
    package let contentType: String
    package let size: Int
    package let author: String
    package let uploaded: Timestamp
}
