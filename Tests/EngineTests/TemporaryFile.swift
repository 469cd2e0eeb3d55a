import Glibc

/// A path for a store, in a folder of its own that is removed at the end.
final class TemporaryFile: Sendable {
    let folder: String
    var path: String { folder + "/state.db" }

    init() {
        var template = Array("/tmp/steward-engine-XXXXXX".utf8CString)
        folder = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? "/tmp"
        }
    }

    deinit {
        for end in ["", "-wal", "-shm", ".lock"] { unlink(path + end) }
        rmdir(folder)
    }
}
