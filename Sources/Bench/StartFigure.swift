/// From the start of the process to being logged in with all channels known.
enum StartFigure {
    static func measure() async throws {
        Table.section("start, ms (median of 7)")
        try await ChatWorld.run(channels: 3) { world in
            let folder = try StewardFolder("start", world.address, channels: 3)
            let own = try await times(folder.command, until: StewardFolder.ready)
            let echo = ["/proc/self/exe", "echo", world.address.name] + world.channels
            let bare = try await times(echo, until: EchoClient.ready)
            Table.line(
                "exec to logged in, 3 channels", own.median.fixed(1), "< 50",
                "bare client \(bare.median.fixed(1)); fastest \(own.least.fixed(1)), bare \(bare.least.fixed(1))"
            )
        }
    }

    private static func times(_ command: [String], until words: String) async throws -> Samples {
        var samples = Samples()
        // One more than counts: the first finds cold files and joins the channels.
        for run in 0..<8 {
            let program = try Program(command)
            do {
                let line = try await program.line(with: words)
                if run > 0 { samples.add((line.at - program.started) * 1000) }
            } catch {
                await program.stop()
                throw error
            }
            await program.stop()
        }
        return samples
    }
}
