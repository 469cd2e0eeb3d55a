internal import Dispatch
internal import Glibc

/// Another program, run to its end.
package enum ChildProcess {
    /// How a program ended and what it wrote.
    package struct Result: Sendable {
        /// The exit code; nil when a signal ended it.
        package var exitCode: Int32?
        package var output: [UInt8]
        package var errors: [UInt8]
    }

    /// Runs a program with its arguments. A name without a slash is looked for in `PATH`.
    ///
    /// The program and all it started are killed when `timeout` is over, when it writes more than `limit` bytes, or when
    /// the calling task is cancelled; the first two throw `ChildProcessError`, the last `CancellationError`.
    package static func run(
        _ command: [String], input: [UInt8] = [], limit: Int = 1 << 20, timeout: Duration = .seconds(30)
    ) async throws -> Result {
        guard let program = command.first, !program.isEmpty else {
            throw ChildProcessError("there is no program to run")
        }
        guard command.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw ChildProcessError("\(program): an argument contains a NUL byte")
        }
        let stop = Locked(false)
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                // Watching a child blocks, and must not do so on a thread that others need.
                DispatchQueue.global().async { @Sendable in
                    var child = Child(
                        command: command, input: input, limit: limit, deadline: .now + timeout, stop: stop)
                    continuation.resume(with: Swift.Result { try child.run() })
                }
            }
        } onCancel: {
            stop.withLock { $0 = true }
        }
    }
}

/// Why a program could not be run to its end.
package struct ChildProcessError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

private let starting = Locked(())

private struct Child {
    let command: [String]
    let input: [UInt8]
    let limit: Int
    let deadline: ContinuousClock.Instant
    let stop: Locked<Bool>
    private var written = 0

    init(
        command: [String], input: [UInt8], limit: Int, deadline: ContinuousClock.Instant, stop: Locked<Bool>
    ) {
        self.command = command
        self.input = input
        self.limit = limit
        self.deadline = deadline
        self.stop = stop
    }

    mutating func run() throws -> ChildProcess.Result {
        let name = command[0]
        // One at a time: a child that starts between the making of a pipe and its mark would keep it open.
        let (process, stdin, stdout, stderr) = try starting.withLock { _ in
            let pipes = try (Pipe(for: name), Pipe(for: name), Pipe(for: name))
            let process = try spawn(stdin: pipes.0, stdout: pipes.1, stderr: pipes.2)
            return (process, pipes.0, pipes.1, pipes.2)
        }
        stdin.close(\.reading)
        stdout.close(\.writing)
        stderr.close(\.writing)
        var result = ChildProcess.Result(exitCode: nil, output: [], errors: [])
        do {
            try watch(stdin, stdout, stderr, into: &result)
            result.exitCode = try wait(for: process)
        } catch {
            // The whole group: what the program started would else go on.
            kill(-process, SIGKILL)
            kill(process, SIGKILL)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            throw error
        }
        return result
    }

    private func spawn(stdin: Pipe, stdout: Pipe, stderr: Pipe) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin.reading, 0)
        posix_spawn_file_actions_adddup2(&actions, stdout.writing, 1)
        posix_spawn_file_actions_adddup2(&actions, stderr.writing, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that we handle or block must mean to the child what they mean to any program.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, command[0], &actions, &attributes, arguments, environ)
        guard code == 0 else { throw ChildProcessError("\(command[0]): \(reason(code))") }
        return process
    }

    private mutating func watch(
        _ stdin: Pipe, _ stdout: Pipe, _ stderr: Pipe, into result: inout ChildProcess.Result
    ) throws {
        if input.isEmpty { stdin.close(\.writing) }
        _ = fcntl(stdin.writing, F_SETFL, O_NONBLOCK)
        while stdout.reading >= 0 || stderr.reading >= 0 || stdin.writing >= 0 {
            try checkTime()
            // A negative descriptor is left out.
            var watched = [
                pollfd(fd: stdout.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stderr.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stdin.writing, events: Int16(POLLOUT), revents: 0),
            ]
            // Short, because nobody can wake us: what has to be noticed is a cancelled task.
            guard poll(&watched, 3, 20) > 0 else { continue }
            if watched[0].revents != 0 { read(stdout, into: &result.output) }
            if watched[1].revents != 0 { read(stderr, into: &result.errors) }
            if watched[2].revents != 0 { write(stdin) }
            guard result.output.count + result.errors.count <= limit else {
                throw ChildProcessError("\(command[0]): wrote more than \(limit) bytes")
            }
        }
    }

    private func read(_ pipe: Pipe, into bytes: inout [UInt8]) {
        let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = Glibc.read(pipe.reading, buffer.baseAddress, buffer.count)
            if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
            return count
        }
        if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { pipe.close(\.reading) }
    }

    private mutating func write(_ pipe: Pipe) {
        let count = input[written...].withUnsafeBytes { bytes in
            withoutSignal(SIGPIPE) { Glibc.write(pipe.writing, bytes.baseAddress, bytes.count) }
        }
        if count > 0 { written += count }
        // Some programs do not want to read all of it.
        if written == input.count || (count < 0 && errno != EINTR && errno != EAGAIN) {
            pipe.close(\.writing)
        }
    }

    /// The exit code; nil when a signal ended it.
    private func wait(for process: pid_t) throws -> Int32? {
        var status: Int32 = 0
        while true {
            let ended = waitpid(process, &status, WNOHANG)
            if ended == process { return status & 0x7f == 0 ? (status >> 8) & 0xff : nil }
            if ended < 0, errno != EINTR { throw ChildProcessError("\(command[0]): \(reason(errno))") }
            try checkTime()
            // It has closed its output and is about to end.
            usleep(2000)
        }
    }

    private func checkTime() throws {
        if stop.withLock({ $0 }) { throw CancellationError() }
        if ContinuousClock.now >= deadline { throw ChildProcessError("\(command[0]): took too long") }
    }
}

/// Keeps a signal that a system call sends to its own thread from ending us.
private func withoutSignal(_ signal: Int32, _ body: () -> Int) -> Int {
    var one = sigset_t()
    sigemptyset(&one)
    sigaddset(&one, signal)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &one, &before)
    let result = body()
    let code = errno
    if result < 0 {
        var none = timespec()
        sigtimedwait(&one, nil, &none)
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return result
}

private func reason(_ code: Int32) -> String {
    String(cString: strerror(code))
}

/// Two ends that close themselves.
private final class Pipe {
    var reading: Int32 = -1
    var writing: Int32 = -1

    init(for program: String) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ChildProcessError("\(program): no pipe: \(reason(errno))")
        }
        reading = ends[0]
        writing = ends[1]
        // Closed in every child but the one that gets them by `dup2`.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    func close(_ end: ReferenceWritableKeyPath<Pipe, Int32>) {
        if self[keyPath: end] >= 0 { Glibc.close(self[keyPath: end]) }
        self[keyPath: end] = -1
    }

    deinit {
        close(\.reading)
        close(\.writing)
    }
}
