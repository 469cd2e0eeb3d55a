/// When a rule that matches too often puts itself on dry run.
struct BotBreaker: Sendable, Equatable {
    var matches = 5
    /// In per cent.
    var share = 5
    var time = Duration.seconds(3600)
    /// It was written, so it holds for ever; otherwise it holds for the first day.
    var isWritten = false
    var isOff = false

    static let usual = BotBreaker()
    static let none = BotBreaker(isOff: true)
}
