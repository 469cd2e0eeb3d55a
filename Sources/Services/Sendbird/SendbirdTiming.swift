/// How long things may take.
package struct SendbirdTiming: Sendable {
    package var connect = Duration.seconds(10)
    /// For the server's first word after the socket opened.
    package var login = Duration.seconds(10)
    /// For the acknowledgement of a command.
    package var reply = Duration.seconds(10)
    package var request = Duration.seconds(30)
    /// How often all these are looked at.
    package var tick = Duration.milliseconds(100)
    /// Before the first attempt after a connection that was fine, and the shortest of all pauses.
    package var firstPause = Duration.milliseconds(250)
    /// However long the server wants us to stay away.
    package var longestPause = Duration.seconds(300)
    /// How long to drop events when steward has too many.
    package var behind = Duration.milliseconds(300)
    /// A typist is forgotten so long after the last sign. Source: the behaviour of Sendbird's clients.
    package var typing = Duration.seconds(10)
    /// At most one typing sign, read mark and delivery mark a channel in so long.
    package var marks = Duration.seconds(1)
    /// What was missed is read from so long before the last message that was heard.
    package var overlap = Duration.seconds(10)
    /// Between two attempts to renew the session.
    package var renewal = Duration.seconds(1)

    package init() {}
}

/// What may be done in how long. Source: Sendbird's documentation of rate limits.
package struct SendbirdLimits: Sendable {
    package enum Bucket: Sendable, CaseIterable { case read, write, upload, send, mark, other }

    /// A second and a minute; nil is no limit.
    var rates: [Bucket: (second: Int, minute: Int?)]

    package static let sendbird = SendbirdLimits(rates: [
        .read: (20, 120), .write: (10, 120), .upload: (4, 60), .send: (5, nil), .mark: (3, nil),
        .other: (3, nil),
    ])

    /// Where the service is not Sendbird's own, only what it says itself counts.
    package static let wide = SendbirdLimits(
        rates: Dictionary(uniqueKeysWithValues: Bucket.allCases.map { ($0, (second: 400, minute: nil)) }))

    var paces: [Bucket: [Pace]] {
        rates.mapValues { rate in
            [Pace(perSecond: rate.second)]
                + (rate.minute.map { [Pace(perSecond: Double($0) / 60, atOnce: Double($0))] } ?? [])
        }
    }
}
