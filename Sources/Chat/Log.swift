/// Writes what happened, for people on a terminal and as one JSON object a line otherwise.
public struct Log: Sendable {
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// One line on its way to the log.
    public struct Line: Sendable {
        public var level: Level
        public var text: String
        public var fields: [(String, String)]

        public init(level: Level, text: String, fields: [(String, String)] = []) {
            self.level = level
            self.text = text
            self.fields = fields
        }
    }

    public var level: Level
    private let fields: [(String, String)]
    private let write: @Sendable (Line) -> Void

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

    public func debug(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.debug, text, more)
    }

    public func info(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.info, text, more)
    }

    public func warning(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.warning, text, more)
    }

    public func error(_ text: @autoclosure () -> String, _ more: [(String, String)] = []) {
        add(.error, text, more)
    }

    private func add(_ level: Level, _ text: () -> String, _ more: [(String, String)]) {
        guard level >= self.level else { return }
        write(Line(level: level, text: text(), fields: fields + more))
    }
}
