/// A span of time that comes back, under a name, as it is written.
struct BotWindow: Sendable {
    var name: Placed<String>
    var days: Placed<[String]>?
    var between: Placed<String>?
    var zone: Placed<String>?

    init(name: Placed<String>) {
        self.name = name
    }
}

/// When a condition holds, as it is written.
struct BotTime: Sendable {
    var spot: Spot
    /// Nil: at any time that `not` leaves.
    var any: [Placed<String>]?
    var not: [Placed<String>] = []
}

/// A value and what it must be, as it is written.
struct BotCheck: Sendable {
    var value: Template
    /// One of these is enough.
    var wanted: [Placed<String>]
    var spot: Spot
}
