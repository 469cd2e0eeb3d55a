internal import CSQLite
internal import Glibc

/// What SQLite said about which file; a kind for each reaction.
package struct DatabaseError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// No room: wait until there is some, nothing is lost.
        case full
        /// Another connection holds the lock, longer than the busy timeout: try again.
        case busy
        /// The file is damaged: restore it.
        case corrupt
        case notADatabase
        /// The file, the folder or the connection allows no writing.
        case readOnly
        case cannotOpen
        /// The disk failed.
        case disk
        /// A row breaks a rule of its table (unique, not null, check, foreign key).
        case constraint
        /// The task was cancelled.
        case interrupted
        /// Written by a later version of the program.
        case tooNew
        case closed
        /// Anything else; most often a mistake in a statement.
        case other
    }

    package let kind: Kind
    /// As it was opened; `:memory:` for none.
    package let file: String
    /// SQLite's extended result code; 0 when the error is ours.
    package let code: Int32
    /// What is wrong, without the file.
    package let words: String

    init(_ kind: Kind, _ text: String, file: String) {
        self.kind = kind
        self.file = file
        words = text
        code = 0
    }

    /// SQLite's last words on a connection; `code` is the result of the call that failed.
    init(_ handle: OpaquePointer?, code: Int32, file: String) {
        self.code = code
        self.file = file
        let cause = handle.map { sqlite3_system_errno($0) } ?? 0
        kind = Kind(code: code, isShortOfRoom: [ENOSPC, EDQUOT].contains(cause))
        // The handle's message is about its last call; ours may have failed before it reached the handle.
        let isAboutThis = handle != nil && sqlite3_extended_errcode(handle) == code
        var text = String(cString: isAboutThis ? sqlite3_errmsg(handle) : sqlite3_errstr(code))
        // SQLite itself says no more than that it could not.
        if [.cannotOpen, .disk].contains(kind), cause != 0, let reason = strerrordesc_np(cause) {
            text += " (\(String(cString: reason)))"
        }
        words = text
    }

    package var description: String { "\(file): \(words)" }
}

extension DatabaseError.Kind {
    fileprivate init(code: Int32, isShortOfRoom: Bool) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .full
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notADatabase
        case SQLITE_READONLY: self = .readOnly
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: self = .cannotOpen
        case SQLITE_IOERR: self = isShortOfRoom ? .full : .disk
        case SQLITE_CONSTRAINT: self = .constraint
        case SQLITE_INTERRUPT: self = .interrupted
        default: self = .other
        }
    }
}
