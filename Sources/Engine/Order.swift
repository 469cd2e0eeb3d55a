/// What somebody asks of the steward that works on a store, from the command line.
package enum Order: Sendable, Codable, Equatable {
    /// `by`: who asks, such as `root on host`.
    case undo(case: String, by: String)
    /// What is remembered of a user goes; `realm` is where the user's id means something.
    case forget(user: String, realm: String, by: String)
}

package struct OrderAnswer: Sendable, Codable, Equatable {
    /// Whether it was done.
    package var isDone: Bool
    /// What was, or why not.
    package var text: String

    package init(isDone: Bool, text: String) {
        self.isDone = isDone
        self.text = text
    }
}
