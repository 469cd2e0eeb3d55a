internal import Chat
internal import Rules

/// Events a second from the bytes of a frame to the decision, on one core, with few and with many rules.
enum FrameFigure {
    private static let runs = 5
    private static let events = 100_000
    /// A daemon that runs knows who writes: what it costs to meet somebody for the first time is no part of the figure.
    private static let measured = Traffic.users..<Traffic.users + events

    static func measure() throws {
        let vocabulary = Vocabulary()
        let few = Array(vocabulary.keywords.prefix(10))
        let frames = Frames(Traffic(events, afterAll: true, vocabulary: vocabulary))
        let foreign = Frames(Traffic(events, .others, afterAll: true, vocabulary: vocabulary))
        Table.section(
            "frame to decision, one core (thread time; \(events) frames of \(frames.averageSize) bytes by \(Traffic.users) known users; median of \(runs))"
        )
        let (fewRules, manyRules) = (try KeywordRules.load(few), try KeywordRules.load(vocabulary.keywords))
        let least = 400_000.0
        let rate = show("10 rules", frames, fewRules, few, aim: "400,000/s", beside: nil)
        show(
            "10,000 rules", frames, manyRules, vocabulary.keywords, aim: "80 % of it",
            beside: max(rate, least))
        show("10 rules, Cyrillic, Japanese, emoji", foreign, fewRules, few, aim: "", beside: nil)
        show(
            "10,000 rules, Cyrillic, Japanese, emoji", foreign, manyRules, vocabulary.keywords, aim: "",
            beside: nil)
        decideAlone("decide alone, 10 rules", frames, fewRules, few, aim: "")
        decideAlone(
            "decide alone, 10 rules of mixed kinds", frames,
            try KeywordRules.load(text: KeywordRules.mixed(few)), few, aim: "1,000,000/s")
        decideAlone(
            "decide alone, 10,000 rules", frames, manyRules, vocabulary.keywords, aim: "800,000/s")
    }

    @discardableResult
    private static func show(
        _ name: String, _ frames: Frames, _ rules: RuleSet, _ keywords: [String], aim: String,
        beside base: Double?
    ) -> Double {
        var (own, bare) = (Samples(), Samples())
        var (actions, hits) = (0, 0)
        for _ in 0..<runs {
            var pipeline = Pipeline(rules)
            pipeline.take(frames, 0..<measured.lowerBound)
            let before = pipeline.actions
            own.add(rate(of: events) { pipeline.take(frames, measured) })
            actions = pipeline.actions - before
            var other = Bare(keywords)
            bare.add(rate(of: events) { other.take(frames, measured) })
            hits = other.hits
        }
        let part = base.map { " = \((100 * own.median / $0).fixed(0)) %" } ?? ""
        Table.line(
            name, "\(own.median.rate)/s\(part)", aim,
            "bare parse and scan \(bare.median.rate)/s; \(actions) actions, \(hits) words found")
        return own.median
    }

    private static func decideAlone(
        _ name: String, _ frames: Frames, _ rules: RuleSet, _ keywords: [String], aim: String
    ) {
        var (own, bare) = (Samples(), Samples())
        for _ in 0..<runs {
            var pipeline = Pipeline(rules)
            pipeline.take(frames, 0..<measured.lowerBound)
            var other = Bare(keywords)
            var (deciding, scanning) = (0.0, 0.0)
            // Events are decided soon after they were read, and all at once they would not fit the cache.
            for start in stride(from: measured.lowerBound, to: measured.upperBound, by: 64) {
                let events = pipeline.read(frames, start..<min(start + 64, measured.upperBound))
                let begin = Stopwatch.computed
                pipeline.decide(events)
                let middle = Stopwatch.computed
                for event in events { other.scan(event.message?.text ?? "") }
                deciding += middle - begin
                scanning += Stopwatch.computed - middle
            }
            own.add(Double(events) / deciding)
            bare.add(Double(events) / scanning)
        }
        Table.line(name, "\(own.median.rate)/s", aim, "fold and scan alone \(bare.median.rate)/s")
    }

    private static func rate(of count: Int, _ body: () -> Void) -> Double {
        let start = Stopwatch.computed
        body()
        return Double(count) / (Stopwatch.computed - start)
    }
}
