/// How a database is opened.
package struct DatabaseOptions: Sendable {
    /// What a commit waits for.
    package enum Synchronous: String, Sendable {
        /// Until it is on the disk: no power cut takes a commit back.
        case full
        /// A power cut may take the last commits back, never damage the file.
        case normal
        /// Nothing: a power cut may damage the file. For what can be made again.
        case off
    }

    /// Nothing can be written, and a missing file is not made.
    package var isReadOnly = false
    package var synchronous = Synchronous.full
    /// How long a statement waits for another connection's lock before it throws `.busy`.
    package var busyTimeout = Duration.seconds(5)
    /// After how many pages in the write-ahead log a commit also moves them into the file; 0 leaves that to
    /// `Connection.checkpoint`.
    package var checkpointPages = 1000
    /// How much of the file is mapped into memory for reading, in bytes.
    package var mappedBytes: Int64 = 0

    /// What is wrong with the file's first pages, and how long it is, keeps nobody from reading the others.
    package var readsDamaged = false

    package init() {}

    package static var readOnly: DatabaseOptions {
        var options = DatabaseOptions()
        options.isReadOnly = true
        return options
    }

    /// The same for a file that is known to be damaged.
    package static var damaged: DatabaseOptions {
        var options = DatabaseOptions.readOnly
        options.readsDamaged = true
        return options
    }
}
