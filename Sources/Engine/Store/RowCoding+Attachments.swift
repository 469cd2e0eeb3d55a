internal import Chat

// What hangs on a message, wherever messages are kept.
extension RowWriter {
    mutating func attachments(_ attachments: [Message.Attachment]) {
        count(attachments.count)
        for attachment in attachments {
            text(attachment.id)
            text(attachment.name)
            text(attachment.contentType)
            number(attachment.size)
        }
    }
}

extension RowReader {
    mutating func attachments() -> [Message.Attachment]? {
        guard let count = count() else { return nil }
        var attachments: [Message.Attachment] = []
        for _ in 0..<count {
            guard let id = text(), let name = text(), let type = text(), let size = number() else {
                return nil
            }
            attachments.append(.init(id: id, name: name, contentType: type, size: size))
        }
        return attachments
    }
}
