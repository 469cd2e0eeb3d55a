internal import Dispatch
internal import Glibc

/// A small file that holds secrets: only its owner may read it, and it is there whole or as it was before.
struct KeptFile: Sendable {
    let path: String

    /// Its bytes; nil when there is none.
    func read() async throws(KeptFileError) -> [UInt8]? {
        try await away { () throws(KeptFileError) in try readNow() }
    }

    /// Puts the bytes in its place; returns once that outlives a power cut.
    func write(_ bytes: [UInt8]) async throws(KeptFileError) {
        try await away { () throws(KeptFileError) in try writeNow(bytes) }
    }

    /// Disks take their time, and Swift's own threads must not wait for them.
    private func away<R: Sendable>(
        _ body: @escaping @Sendable () throws(KeptFileError) -> R
    ) async throws(KeptFileError) -> R {
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { @Sendable in
                continuation.resume(returning: Result { () throws(KeptFileError) in try body() })
            }
        }
        return try result.get()
    }

    private func readNow() throws(KeptFileError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot be read")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("cannot be read")
            }
            if count == 0 || bytes.count > 1 << 20 { return bytes }
            bytes += piece.prefix(count)
        }
    }

    private func writeNow(_ bytes: [UInt8]) throws(KeptFileError) {
        let other = path + ".new"
        unlink(other)
        let descriptor = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                let error = failure("cannot be written")
                close(descriptor)
                unlink(other)
                throw error
            }
            rest = rest.dropFirst(count)
        }
        let isSynced = fsync(descriptor) == 0
        let error = failure("cannot be written")
        close(descriptor)
        guard isSynced, rename(other, path) == 0 else {
            let error = isSynced ? failure("cannot be replaced") : error
            unlink(other)
            throw error
        }
        // The new name, too, has to be on the disk.
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    private func failure(_ what: String) -> KeptFileError {
        KeptFileError(description: "\(path) \(what): \(String(cString: strerror(errno)))")
    }
}

/// Why a file is not as it should be.
struct KeptFileError: Error, Equatable, CustomStringConvertible {
    let description: String
}
