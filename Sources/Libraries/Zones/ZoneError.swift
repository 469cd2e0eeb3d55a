/// Why a zone, a day, a time or a pattern cannot be read.
package struct ZoneError: Error, Equatable, CustomStringConvertible {
    package var problem: String
    /// The way out.
    package var hint: String?

    init(_ problem: String, hint: String? = nil) {
        self.problem = problem
        self.hint = hint
    }

    package var description: String { hint.map { "\(problem) - \($0)" } ?? problem }
}
