package import Chat

/// What people wrote that a case is about. It is stored sealed, and only for so long.
package struct Evidence: Sendable, Codable, Equatable {
    /// The part of the message that the rule found.
    package var fragment: String?
    /// The messages that the case is about.
    package var messages: [Line] = []
    /// What was written in the channel before, oldest first.
    package var history: [Line] = []
    /// The case whose history begins with this one's, when both came within a minute.
    package var historyOf: String?

    package struct Line: Sendable, Codable, Equatable {
        package var id: String
        package var index: Int64?
        package var channel: String
        package var user: String?
        package var name: String?
        package var at: Timestamp?
        /// Nil when it was not kept.
        package var text: String?
        /// The names of files.
        package var files: [String]?
    }
}

extension Evidence.Line {
    init(_ event: ChatEvent, _ message: Message) {
        self.init(
            id: message.id, index: message.index, channel: event.channel?.id.text ?? "",
            user: message.author.user.text, name: message.author.name, at: event.sentAt, text: message.text,
            files: message.attachments.isEmpty ? nil : message.attachments.map(\.name))
    }
}

/// Whether what people wrote is kept with cases, for how long, and how it is sealed. The engine knows no cipher.
package struct EvidenceKeeping: Sendable {
    package var keep: Duration
    /// Seals a text for one place.
    package var seal: @Sendable (_ plain: [UInt8], _ context: String) -> [UInt8]
    /// Nil when it was sealed with another key, for another place, or is damaged.
    package var open: @Sendable (_ sealed: [UInt8], _ context: String) -> [UInt8]?

    package init(
        keep: Duration, seal: @escaping @Sendable ([UInt8], String) -> [UInt8],
        open: @escaping @Sendable ([UInt8], String) -> [UInt8]?
    ) {
        self.keep = keep
        self.seal = seal
        self.open = open
    }

    /// The row's body for the evidence of a case.
    package func sealed(_ evidence: Evidence, of name: String) -> [UInt8] {
        seal(JSONRow.body(of: evidence), Self.context(name))
    }

    package func opened(_ body: [UInt8], of name: String) -> Evidence? {
        open(body, Self.context(name)).flatMap { JSONRow.value(Evidence.self, from: $0) }
    }

    private static func context(_ name: String) -> String { "evidence \(name)" }
}
