import Glibc

/// A program in another process, with nothing of steward in it, to talk to in tests; it ends with its input.
package final class Peer: Sendable {
    private let process: pid_t
    private let input: Int32
    private let lines: AsyncStream<String>
    private let ended: AsyncStream<Int32>

    /// Where the scripts and certificates are.
    package static func file(_ name: String) -> String {
        String(#filePath.dropLast("Peer.swift".count)) + name
    }

    /// Starts a Python script of this folder.
    package convenience init(_ script: String, _ arguments: [String] = []) throws {
        try self.init(running: ["python3", Self.file(script)] + arguments)
    }

    /// Starts a program, looked for in `PATH` unless named with a slash.
    package init(running words: [String]) throws {
        var toIt: [Int32] = [0, 0]
        var fromIt: [Int32] = [0, 0]
        // Not pipes, which a child started meanwhile by another test could inherit and keep open.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &toIt) == 0, socketpair(AF_UNIX, kind, 0, &fromIt) == 0 else {
            throw NoPeer(errno: errno)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toIt[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromIt[1], 1)
        let argv = words.map { strdup($0) } + [nil]
        var started = pid_t()
        let status = posix_spawnp(&started, words.first ?? "", &actions, nil, argv, environ)
        posix_spawn_file_actions_destroy(&actions)
        for word in argv { free(word) }
        Glibc.close(toIt[0])
        Glibc.close(fromIt[1])
        guard status == 0 else { throw NoPeer(errno: status) }
        let process = started
        self.process = process
        input = toIt[1]
        let (lines, lineSink) = AsyncStream.makeStream(of: String.self)
        let (ended, endSink) = AsyncStream.makeStream(of: Int32.self)
        self.lines = lines
        self.ended = ended
        let output = fromIt[0]
        try startThread {
            guard let file = fdopen(output, "r") else { return }
            var line: UnsafeMutablePointer<CChar>?
            var size = 0
            while getline(&line, &size, file) > 0, let line {
                lineSink.yield(String(cString: line).filter { $0 != "\n" })
            }
            lineSink.finish()
            fclose(file)
            var status: Int32 = 0
            waitpid(process, &status, 0)
            endSink.yield(status)
            endSink.finish()
        }
    }

    deinit {
        // The scripts end with their input.
        Glibc.close(input)
    }

    /// Writes a line to its input.
    package func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// The next line it writes; nil when it has ended.
    package func line() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// All that it writes until it ends, and its exit status as waitpid gives it.
    package func finish() async -> (status: Int32, output: [String]) {
        var output: [String] = []
        for await line in lines { output.append(line) }
        for await status in ended { return (status, output) }
        return (-1, output)
    }

    /// SIGKILL.
    package func kill() {
        Glibc.kill(process, SIGKILL)
    }

    /// SIGSTOP: alive, but silent, until it is killed.
    package func freeze() {
        Glibc.kill(process, SIGSTOP)
    }
}

struct NoPeer: Error {
    let errno: Int32
}

private func startThread(_ body: @escaping @Sendable () -> Void) throws {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let status = pthread_create(
        &thread, nil,
        { pointer in
            if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
            return nil
        }, box.toOpaque())
    guard status == 0 else {
        box.release()
        throw NoPeer(errno: status)
    }
    pthread_detach(thread)
}
