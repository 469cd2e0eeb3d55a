/// `length: over 2000` and its like, as it is written.
struct BotMeasure: Sendable {
    var measure: Measure
    var range: Bounds<Int64>
    var spot: Spot
}

/// What the links of a message must be like, as it is written.
struct BotLinks: Sendable {
    var spot: Spot
    var count: Bounds<Int64>?
    var hostsIn: [Placed<String>]?
    var hostsNotIn: [Placed<String>]?
    /// Whether spelled-out dots are seen through.
    var isLoose = false
}

/// Who must be called in a message, as it is written.
struct BotMentions: Sendable {
    enum Of: String, Sendable, CaseIterable { case anyone, members }

    var spot: Spot
    var count: Bounds<Int64>?
    var everyone = false
    var of = Of.anyone
}

/// How much of a message must be in capitals, as it is written.
struct BotCaps: Sendable {
    var spot: Spot
    /// In per cent.
    var share: Bounds<Int64>?
    var letters: Bounds<Int64>?
}
