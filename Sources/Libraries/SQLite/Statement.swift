internal import CSQLite

/// A prepared statement; it ends with the last reference.
final class Statement {
    let handle: OpaquePointer
    /// Whether its rows are being read just now, so that it cannot be used a second time.
    var isRunning = false

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    func bind(_ value: SQLValue, at place: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, place)
        case .int(let value): return sqlite3_bind_int64(handle, place, value)
        case .double(let value): return sqlite3_bind_double(handle, place, value)
        case .text(var text):
            return text.withUTF8 { bytes in
                guard let start = bytes.baseAddress else { return sqlite_bind_text(handle, place, "", 0) }
                return sqlite_bind_text(handle, place, start, UInt64(bytes.count))
            }
        case .blob(let blob):
            // A blob without an address would become a null.
            if blob.isEmpty { return sqlite3_bind_zeroblob(handle, place, 0) }
            return sqlite_bind_blob(handle, place, blob, UInt64(blob.count))
        }
    }

    func reset() {
        // Repeats the error of the last step, which was thrown already.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}
