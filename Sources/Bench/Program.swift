internal import Chat
internal import Dispatch
internal import Glibc

/// Another program while it runs. What it writes to standard error is read line by line.
final class Program: Sendable {
    private struct State {
        var lines: [(text: String, at: Double)] = []
        var isOver = false
    }

    /// When it was started.
    let started: Double
    let process: pid_t
    private let state = Locked(State())
    private static let running = Locked<Set<pid_t>>([])

    init(_ command: [String]) throws {
        var pipe: [Int32] = [0, 0]
        guard Glibc.pipe(&pipe) == 0 else { throw BenchError("no pipe for \(command[0])") }
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe[1], 2)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        started = Stopwatch.now
        let error = posix_spawn(&process, command[0], &actions, nil, &arguments, environ)
        close(pipe[1])
        guard error == 0 else {
            close(pipe[0])
            throw BenchError("\(command[0]) cannot be started; `make bench` builds it")
        }
        self.process = process
        Self.running.withLock { _ = $0.insert(process) }
        // Reading blocks, so it needs a thread of its own.
        DispatchQueue.global().async { @Sendable [state, descriptor = pipe[0]] in
            Self.readLines(descriptor) { line, at in state.withLock { $0.lines.append((line, at)) } }
            state.withLock { $0.isOver = true }
        }
    }

    private static func readLines(_ descriptor: Int32, _ take: (String, Double) -> Void) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            let at = Stopwatch.now
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: 10) {
                take(String(decoding: rest[..<end], as: UTF8.self), at)
                rest.removeSubrange(...end)
            }
        }
        close(descriptor)
    }

    /// The first line with these words, and when it came.
    func line(with words: String, within limit: Double = 20) async throws -> (text: String, at: Double) {
        let end = Stopwatch.now + limit
        while Stopwatch.now < end {
            let (found, isOver, last) = state.withLock { state in
                (state.lines.first { $0.text.contains(words) }, state.isOver, state.lines.last?.text)
            }
            if let found { return found }
            if isOver { throw BenchError("a program ended early: \(last ?? "without a word")") }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw BenchError("a program did not say \"\(words)\" in \(Int(limit)) s")
    }

    /// What of its memory is its own, and all that it keeps in memory, in MB.
    var memory: (own: Double, all: Double) {
        var (own, all) = (Double.nan, Double.nan)
        guard let file = fopen("/proc/\(process)/status", "r") else { return (own, all) }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\t" }
            guard words.count > 1, let size = Double(words[1]) else { continue }
            if words[0] == "RssAnon:" { own = size / 1024 }
            if words[0] == "VmRSS:" { all = size / 1024 }
        }
        return (own, all)
    }

    /// Asks it to stop, and makes it if it does not.
    func stop() async {
        kill(process, SIGTERM)
        for tries in 0... {
            var status: Int32 = 0
            let answer = waitpid(process, &status, WNOHANG)
            if answer == process || answer < 0 && errno == ECHILD { break }
            if tries == 1000 { kill(process, SIGKILL) }
            usleep(5_000)
        }
        Self.running.withLock { _ = $0.remove(process) }
    }

    /// When we are stopped ourselves, or take far too long, nothing is left behind.
    static func cleanUpAfterSignals() -> [any DispatchSourceSignal] {
        alarm(420)
        return [SIGINT, SIGTERM, SIGALRM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { @Sendable in
                for process in running.withLock({ $0 }) { kill(process, SIGKILL) }
                Workspace.removeAll()
                _exit(1)
            }
            source.resume()
            return source
        }
    }
}
