internal import Chat
internal import Glibc

/// Instructions for each event, which unlike time do not depend on what else the machine does: counted by the processor
/// where that is allowed, else by valgrind.
///
/// A process of its own makes all the frames and takes some of them, then another one takes them all; the difference is
/// what the others cost, once everything is set up and has been used.
enum InstructionFigure {
    private static let frames = 5_000
    private static let repeats = 5
    private static let users = 2_000

    static func measure() async throws {
        Table.section("instructions for each event, 10 rules")
        guard let counter = try await Counter.available() else {
            Table.line("frame to decision", "not countable here", "", "no hardware counter and no valgrind")
            return
        }
        let own = try await counter.instructions("pipeline")
        let decide = try await counter.instructions("decide")
        let bare = try await counter.instructions("bare")
        Table.line(
            "frame to decision", own.rate, "", "bare parse and scan \(bare.rate); counted by \(counter.name)")
        Table.line("decide alone", decide.rate, "< 6,000", "")
    }

    /// `Bench once WHAT TIMES`: the process that is counted.
    static func runOnce(_ arguments: [String]) throws {
        guard arguments.count == 2, let times = Int(arguments[1]), (1...repeats + 1).contains(times) else {
            return
        }
        let keywords = Array(Vocabulary(keywords: 10).keywords)
        let frames = Frames(
            Traffic(frames * (repeats + 1), users: users, vocabulary: Vocabulary(keywords: 10)))
        let taken = 0..<times * Self.frames
        var pipeline = Pipeline(try KeywordRules.load(keywords), users: users)
        switch arguments[0] {
        case "bare":
            var bare = Bare(keywords)
            bare.take(frames, taken)
        case "decide":
            pipeline.decide(pipeline.read(frames, 0..<frames.count)[taken])
        default:
            pipeline.take(frames, taken)
        }
    }

    private struct Counter {
        var name: String
        /// What comes before the program's own words.
        var command: [String]
        var program: String
        /// Reads the count from what the counter writes.
        var read: @Sendable (String) -> Double?

        static func available() async throws -> Counter? {
            let perf = Counter(
                name: "perf", command: ["perf", "stat", "-x", ",", "-e", "instructions:u"],
                program: "/proc/self/exe"
            ) { text in
                text.split(separator: "\n").lazy.compactMap {
                    $0.split(separator: ",").first.flatMap { Double($0) }
                }
                .first
            }
            if let count = try? await perf.count(["true"]), count > 0 { return perf }
            // Valgrind stumbles over our debug information.
            let stripped = "\(try Workspace("count").path)/Bench"
            let strip = try? await ChildProcess.run(
                ["objcopy", "--strip-debug", "\(Workspace.programs)/Bench", stripped], timeout: .seconds(60))
            guard strip?.exitCode == 0 else { return nil }
            let valgrind = Counter(
                name: "valgrind",
                command: [
                    "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                ],
                program: stripped
            ) { text in
                // ==123== I   refs:      1,234,567
                let line = text.split(separator: "\n").first { $0.contains("refs:") && $0.contains(" I ") }
                return line?.split(separator: " ").last.flatMap { Double($0.filter(\.isNumber)) }
            }
            return (try? await valgrind.count(["true"])) == nil ? nil : valgrind
        }

        func instructions(_ what: String) async throws -> Double {
            let once = try await count([program, "once", what, "1"])
            let often = try await count([program, "once", what, "\(repeats + 1)"])
            return (often - once) / Double(repeats * frames)
        }

        func count(_ words: [String]) async throws -> Double {
            let result = try await ChildProcess.run(command + words, timeout: .seconds(120))
            guard let count = read(String(decoding: result.errors, as: UTF8.self)) else {
                throw BenchError("\(name) counted nothing")
            }
            return count
        }
    }
}
