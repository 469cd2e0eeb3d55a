/// Of what sort the reason is for which a rule does not match, so that several can share a line.
struct ReasonSort: Sendable, Equatable {
    /// The one first of which the words say least that is not said of all.
    enum Rank: Int, Sendable, CaseIterable { case words, times, people, rates, counts, others }

    let rank: Rank
    /// The reason, in words that are for several rules.
    let words: String

    init(_ rank: Rank, _ words: String) {
        self.rank = rank
        self.words = words
    }
}
