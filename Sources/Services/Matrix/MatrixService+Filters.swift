internal import Chat
internal import JSON

/// What is asked for of all that the server could tell. Source: client-server specification, "Filtering".
extension MatrixService {
    private static let stateTypes: [JSON] = [
        "m.room.member", "m.room.power_levels", "m.room.name", "m.room.topic", "m.room.canonical_alias",
        "m.room.tombstone", "m.room.encryption", "m.room.create",
    ]

    private static let policyTypes: [JSON] = [
        "m.policy.rule.*", "m.room.rule.*", "org.matrix.mjolnir.rule.*",
    ]

    private static let messageTypes: [JSON] = [
        "m.room.message", "m.sticker", "m.room.encrypted", "m.reaction", "m.room.redaction",
    ]

    /// Of timelines, and of the pages that fill their gaps.
    var timelineFilter: JSON {
        [
            "lazy_load_members": true, "limit": .int(Int64(Self.page)),
            "types": .array(Self.messageTypes + Self.stateTypes + Self.policyTypes),
        ]
    }

    var filter: String {
        var passing: [JSON] = []
        if settings.typing == true { passing.append("m.typing") }
        if settings.receipts == true { passing.append("m.receipt") }
        return filter(passing: passing, timeline: timelineFilter, presence: ["none"])
    }

    /// Of what there is already. The server keeps answers for a while, so each of these is another question.
    var firstFilter: String {
        var timeline = timelineFilter.object ?? [:]
        timeline["limit"] = 1
        return filter(
            passing: [], timeline: .object(timeline), presence: ["none.\(UInt64.random(in: 0 ... .max))"])
    }

    private func filter(passing: [JSON], timeline: JSON, presence: [String]) -> String {
        let nothing: JSON = ["types": ["none"]]
        let filter: JSON = [
            "presence": ["types": .array(presence.map { .string($0) })],
            "account_data": ["types": ["m.direct"]],
            "room": [
                "account_data": nothing,
                "ephemeral": ["types": .array(passing.isEmpty ? ["none"] : passing)],
                "state": ["lazy_load_members": true, "types": .array(Self.stateTypes)],
                "timeline": timeline,
            ],
        ]
        return filter.description
    }
}
