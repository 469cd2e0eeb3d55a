internal import Dispatch
internal import Glibc

/// `Bench [figure …]`: measures and prints; all figures when none is named. Never installed.
@main
enum Bench {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            // Parts of figures that are processes of their own.
            case "echo": try await EchoClient.run(Array(arguments.dropFirst()))
            case "once": try InstructionFigure.runOnce(Array(arguments.dropFirst()))
            default: exit(await measure(arguments) ? 0 : 1)
            }
        } catch {
            complain("\(error)\n")
            exit(1)
        }
    }

    private static func measure(_ wanted: [String]) async -> Bool {
        let signals = Program.cleanUpAfterSignals()
        defer { for signal in signals { signal.cancel() } }
        defer { Workspace.removeAll() }
        var isFine = true
        func figure(_ name: String, _ body: () async throws -> Void) async {
            guard wanted.isEmpty || wanted.contains(name) else { return }
            do {
                try await body()
            } catch {
                Table.line(name, "failed", "", "\(error)")
                isFine = false
            }
        }
        Table.begin()
        await figure("frames") { try FrameFigure.measure() }
        await figure("texts") { try TextFigure.measure() }
        await figure("journal") { try await JournalFigure.measure() }
        await figure("start") { try await StartFigure.measure() }
        await figure("latency") { try await LatencyFigure.measure() }
        await figure("memory") { try await MemoryFigure.measure() }
        await figure("instructions") { try await InstructionFigure.measure() }
        return isFine
    }
}

/// Writes to standard error.
func complain(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
