/// Chat as on a busy service: 100,000 users in 200 channels, a quarter of the lines by 2,000 of them, each line of 30 to
/// 110 bytes, 26 in 1,000 with a keyword. The same in each run.
struct Traffic: Sendable {
    static let users = 100_000
    static let regulars = 2_000
    static let channels = 200

    enum Script: Sendable {
        case latin
        /// Cyrillic, Japanese and emoji by turns.
        case others
    }

    struct Line: Sendable {
        var user: Int
        var text: String

        /// Each user is in one channel.
        var channel: Int { user % Traffic.channels }
    }

    private(set) var lines: [Line] = []

    /// `afterAll`: before these lines everybody writes once, in lines of which no figure is taken.
    init(
        _ count: Int, _ script: Script = .latin, users: Int = Traffic.users, afterAll: Bool = false,
        vocabulary: Vocabulary
    ) {
        var random = SplitMix(seed: 2)
        let first = afterAll ? users : 0
        lines.reserveCapacity(first + count)
        for number in 0..<first + count {
            let isRegular = Int.random(in: 0..<4, using: &random) == 0
            let anybody = Int.random(in: 0..<(isRegular ? min(Self.regulars, users) : users), using: &random)
            let user = number < first ? number : anybody
            var words = vocabulary.line(script, number, using: &random)
            if Int.random(in: 0..<1000, using: &random) < 26 {
                // Of the few that every set of rules has, so that all sets answer the same lines.
                let keyword = vocabulary.keywords[Int.random(in: 0..<10, using: &random)]
                words.insert(keyword, at: Int.random(in: 0...words.count, using: &random))
            }
            lines.append(Line(user: user, text: words.joined(separator: " ")))
        }
    }
}
