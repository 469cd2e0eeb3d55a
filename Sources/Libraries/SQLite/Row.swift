internal import CSQLite

/// A row of an answer, valid only inside of the closure that it was given to. Columns count from 0.
///
/// `int`, `double`, `text` and `blob` convert as SQLite does, null to 0 or nothing; the `…OrNil` forms tell null apart.
package struct Row {
    let handle: OpaquePointer

    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    package func int(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    package func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    package func bool(_ column: Int) -> Bool { int(column) != 0 }

    package func text(_ column: Int) -> String {
        // The text must be asked for before its count: it may have to be converted.
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int) -> [UInt8] { withBlob(column) { Array($0) } }

    /// The bytes in place, not copied.
    package func withBlob<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let start = sqlite3_column_blob(handle, Int32(column))
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(handle, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    package func intOrNil(_ column: Int) -> Int64? { isNull(column) ? nil : int(column) }
    package func doubleOrNil(_ column: Int) -> Double? { isNull(column) ? nil : double(column) }
    package func textOrNil(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    package func blobOrNil(_ column: Int) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// The value as it is stored.
    package subscript(column: Int) -> SQLValue {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .int(int(column))
        case SQLITE_FLOAT: .double(double(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    package var values: [SQLValue] { (0..<Int(sqlite3_column_count(handle))).map { self[$0] } }
}
