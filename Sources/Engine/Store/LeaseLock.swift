internal import Chat
internal import Glibc

/// A file that whoever works on the store keeps locked. The system frees the lock when a process ends, even by
/// SIGKILL, so a new one need not wait until the old one's lease has run out.
final class LeaseLock: Sendable {
    let file: String
    private let descriptor = Locked<CInt?>(nil)

    init(file: String) {
        self.file = file
    }

    deinit { release() }

    /// Whether we have the lock now. False as well where files cannot be locked: then only the lease counts.
    func take() -> Bool {
        descriptor.withLock { descriptor in
            if descriptor != nil { return true }
            let opened = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard opened >= 0 else { return false }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                close(opened)
                return false
            }
            descriptor = opened
            return true
        }
    }

    /// Whether the file was taken away while we have its lock: whoever comes next would lock another one.
    var isGone: Bool {
        descriptor.withLock { descriptor in
            var about = stat()
            guard let descriptor, fstat(descriptor, &about) == 0 else { return false }
            return about.st_nlink == 0
        }
    }

    /// Whether somebody else has the lock of that file; nothing is made.
    static func isTaken(_ file: String) -> Bool {
        let opened = open(file, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return false }
        defer { close(opened) }
        return flock(opened, LOCK_SH | LOCK_NB) != 0
    }

    func release() {
        descriptor.withLock { descriptor in
            if let opened = descriptor { close(opened) }
            descriptor = nil
        }
    }
}
