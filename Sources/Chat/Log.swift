/// Writes what happened, for people on a terminal and as one JSON object a line otherwise.
public struct Log: Sendable {
    /// How much a line matters. A log writes its own level and all above it.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// What happens inside, for whoever looks for a fault.
        case debug
        /// What whoever runs steward wants to know.
        case info
        /// Something is not as it should be, and steward goes on.
        case warning
        /// Something does not work, and somebody has to act.
        case error

        /// `debug` is the least.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// One line on its way to the log.
    public struct Line: Sendable {
        /// How much it matters.
        public var level: Level
        /// One line for people: lower case, no period, no secrets.
        public var text: String
        /// Names and values, in their order; a name may come twice.
        public var fields: [(String, String)]

        /// Nothing is escaped here: whoever writes the line does that.
        public init(level: Level, text: String, fields: [(String, String)] = []) {
            self.level = level
            self.text = text
            self.fields = fields
        }
    }

    /// What is below it is not written, and its text is not even made.
    public var level: Level
    private let fields: [(String, String)]
    private let write: @Sendable (Line) -> Void

    /// `write` gets each line on the thread that logs it, and must not wait.
    public init(level: Level = .info, write: @escaping @Sendable (Line) -> Void) {
        self.level = level
        self.write = write
        fields = []
    }

    private init(level: Level, fields: [(String, String)], write: @escaping @Sendable (Line) -> Void) {
        self.level = level
        self.fields = fields
        self.write = write
    }

    /// Nothing is written.
    public static let silent = Log(level: .error) { _ in }

    /// The same log, each line with one more field.
    public func with(_ name: String, _ value: String) -> Log {
        Log(level: level, fields: fields + [(name, value)], write: write)
    }

    /// What happens inside, for whoever looks for a fault.
    public func debug(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.debug, text, more)
    }

    /// What whoever runs steward wants to know.
    public func info(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.info, text, more)
    }

    /// Something is not as it should be, and steward goes on.
    public func warning(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.warning, text, more)
    }

    /// Something does not work, and somebody has to act.
    public func error(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.error, text, more)
    }

    private func add(_ level: Level, _ text: () -> String, _ more: [(String, String)]) {
        guard level >= self.level else { return }
        write(Line(level: level, text: text(), fields: fields + more))
    }
}
