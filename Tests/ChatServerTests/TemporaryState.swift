import Glibc

/// The path of a state file that is removed in the end.
final class TemporaryState: Sendable {
    let path = "/tmp/steward-chat-\(UInt64.random(in: .min ... .max)).db"

    deinit {
        for end in ["", "-wal", "-shm", "-journal"] { unlink(path + end) }
    }
}
