internal import Glibc

/// What the disk alone takes for one small commit: nothing that is stored before it counts can be faster.
enum DiskSync {
    /// Seconds for a page and its `fdatasync`, with a pause before each as between the commits of a quiet program.
    static func measure(_ count: Int, every pause: Duration = .zero) async throws -> Samples {
        let folder = try Workspace("sync")
        let file = open("\(folder.path)/file", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw BenchError("no file beside the program") }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        var times: [Double] = []
        for _ in 0..<count {
            if pause > .zero { try await Task.sleep(for: pause) }
            let start = Stopwatch.now
            guard write(file, block, block.count) == block.count, fdatasync(file) == 0 else { break }
            times.append(Stopwatch.now - start)
        }
        return Samples(times)
    }
}
