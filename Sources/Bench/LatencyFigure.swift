internal import JSON

/// From the socket on which a question is asked to the socket on which its answer is heard, with steward and with a bare
/// client that only answers. What steward takes longer is what it adds, its journal included.
enum LatencyFigure {
    private static let channels = 50
    private static let seconds = 12.0

    static func measure() async throws {
        Table.section(
            "question to answer, socket to socket, ms (server, crowd and answerer in processes of their own)")
        try await ChatWorld.run(channels: channels) { world in
            // Many people, who ask seldom: somebody who is as quick as a program gets no answers after a while.
            try await Crowd.run(150, in: world, named: "asker") { askers in
                try await Crowd.run(channels, in: world, named: "talker") { talkers in
                    for (rate, part) in [(100, 4), (1000, 20)] {
                        try await compare(world, askers, talkers, rate: rate, oneIn: part)
                    }
                }
            }
        }
    }

    private static func compare(
        _ world: ChatWorld, _ askers: Crowd, _ talkers: Crowd, rate: Int, oneIn part: Int
    ) async throws {
        let echo = try Program(["/proc/self/exe", "echo", world.address.name] + world.channels)
        let bare = try await times(
            world, askers, talkers, of: echo, EchoClient.ready, EchoClient.identity, rate, part)
        let folder = try StewardFolder("latency-\(rate)", world.address, channels: channels)
        let steward = try Program(folder.command)
        let own = try await times(
            world, askers, talkers, of: steward, StewardFolder.ready, "steward", rate, part)
        let disk = try await DiskSync.measure(3 * min(rate, 200), every: .seconds(1) / rate)
        for (name, quantile, aim) in [("p50", 0.5, "0.6"), ("p99", 0.99, "3")] {
            let (own, bare) = (own.quantile(quantile), bare.quantile(quantile))
            Table.line(
                "added at \(rate) messages/s, \(name)", (own - bare).fixed(2), "< \(aim)",
                "steward \(own.fixed(2)), bare client \(bare.fixed(2)); "
                    + "fdatasync alone \((disk.quantile(quantile) * 1000).fixed(2))")
        }
    }

    /// Milliseconds to each answer; the program ends with it.
    private static func times(
        _ world: ChatWorld, _ askers: Crowd, _ talkers: Crowd, of program: Program, _ ready: String,
        _ author: String, _ rate: Int, _ part: Int
    ) async throws -> Samples {
        do {
            _ = try await program.line(with: ready)
            var asked: [Double] = []
            var samples = Samples()
            try await Listener.run(world, to: author) { listener in
                asked = try await talk(askers, talkers, rate, oneIn: part)
                try await Task.sleep(for: .milliseconds(700))
                // The first second is for warming up.
                let times = asked.enumerated().compactMap { number, at -> Double? in
                    guard at > asked[0] + 1, let heard = listener.time(of: number) else { return nil }
                    return (heard - at) * 1000
                }
                let wanted = asked.count { $0 > asked[0] + 1 }
                guard times.count * 100 >= wanted * 99 else {
                    throw BenchError("only \(times.count) of \(wanted) questions were answered by \(author)")
                }
                samples = Samples(times)
            }
            await program.stop()
            return samples
        } catch {
            await program.stop()
            throw error
        }
    }

    /// Keeps to the rate whatever the answers do; gives when each question was asked.
    private static func talk(
        _ askers: Crowd, _ talkers: Crowd, _ rate: Int, oneIn part: Int
    ) async throws -> [Double] {
        var random = SplitMix(seed: UInt64(rate))
        let vocabulary = Vocabulary(keywords: 10)
        var asked: [Double] = []
        let start = Stopwatch.now
        for number in 0..<Int(seconds * Double(rate)) {
            let due = start + Double(number) / Double(rate)
            while Stopwatch.now < due { try await Task.sleep(for: .microseconds(300)) }
            let text = vocabulary.line(.latin, number, using: &random).joined(separator: " ")
            if number % part == part / 2 {
                let text = Question.text(asked.count, text)
                asked.append(Stopwatch.now)
                askers.post(text, by: asked.count - 1)
            } else {
                talkers.post(text, by: number)
            }
        }
        return asked
    }
}
