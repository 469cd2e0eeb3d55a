/// Memory of a running steward: idle, after 100,000 messages, and a minute later.
enum MemoryFigure {
    private static let messages = 100_000
    private static let rest = 60

    static func measure() async throws {
        Table.section("memory, MB (private = RssAnon; resident = all, files of the program included)")
        try await ChatWorld.run(channels: Traffic.channels) { world in
            let echo = try Program(["/proc/self/exe", "echo", world.address.name] + world.channels)
            let bare: (own: Double, all: Double)
            do {
                _ = try await echo.line(with: EchoClient.ready, within: 60)
                bare = echo.memory
            } catch {
                await echo.stop()
                throw error
            }
            await echo.stop()
            let folder = try StewardFolder("memory", world.address, channels: Traffic.channels)
            let program = try Program(folder.command)
            do {
                try await measure(program, bare, world)
            } catch {
                await program.stop()
                throw error
            }
            await program.stop()
        }
    }

    private static func measure(
        _ program: Program, _ bare: (own: Double, all: Double), _ world: ChatWorld
    ) async throws {
        _ = try await program.line(with: StewardFolder.ready, within: 60)
        try await Task.sleep(for: .seconds(3))
        show(
            "idle, \(Traffic.channels) channels", program, aim: "10",
            "bare client \(bare.own.fixed(1)) / \(bare.all.fixed(1))")
        try await Crowd.run(Traffic.channels, in: world, named: "talker") { crowd in
            let start = Stopwatch.now
            try await flood(crowd)
            try await catchUp(crowd, world)
            let rate = Double(messages) / (Stopwatch.now - start)
            show("after \(messages) messages", program, aim: "25", "at \(rate.rate) messages/s")
        }
        try await Task.sleep(for: .seconds(rest))
        show("\(rest) s later", program, aim: "25, flat", "")
    }

    private static func show(_ name: String, _ program: Program, aim: String, _ beside: String) {
        let memory = program.memory
        Table.line(
            "\(name), private / resident", "\(memory.own.fixed(1)) / \(memory.all.fixed(1))", aim, beside)
    }

    /// As fast as the server takes them, a little below its limit of 30 a second in a channel.
    private static func flood(_ crowd: Crowd) async throws {
        let lines = Traffic(messages, vocabulary: Vocabulary(keywords: 100)).lines
        let start = Stopwatch.now
        var next = 0
        while next < messages {
            let due = min(messages, Int((Stopwatch.now - start) * 5_000))
            let counts = crowd.counts
            let open = counts.sent - counts.done - counts.refused
            for _ in 0..<max(0, min(due - next, 2_000 - open)) {
                crowd.post(lines[next].text, by: next)
                next += 1
            }
            guard Stopwatch.now - start < 90 else { throw BenchError("the server takes messages too slowly") }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Returns when steward has answered a question that came after everything else.
    private static func catchUp(_ crowd: Crowd, _ world: ChatWorld) async throws {
        try await Listener.run(world, to: "steward") { listener in
            // Somebody who has asked nothing yet.
            try await Crowd.run(1, in: world, named: "asker") { asker in
                for number in 0..<60 {
                    asker.post(Question.text(number, "are you there? \(number)"), by: 0)
                    for _ in 0..<50 {
                        if listener.time(of: number) != nil { return }
                        try await Task.sleep(for: .milliseconds(10))
                    }
                }
                throw BenchError("steward does not answer after \(messages) messages")
            }
        }
    }
}
