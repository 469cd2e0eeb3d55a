internal import Chat

/// The conditions of one event took longer than they may. Nothing matched; the next event is looked at as usual.
struct OverrunError: Error, CustomStringConvertible {
    var took: Duration
    var size: Int

    var description: String {
        "conditions took \(took.milliseconds) ms for a text of \(size) bytes, so no rule matched"
    }
}
