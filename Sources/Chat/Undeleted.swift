/// A message that a guard wanted deleted and that is still there, or somebody whom the service did not mute: what the
/// engine tells the rules of it, so that staff read of it where the rule reports.
package enum Undeleted {
    /// Who owns it; no rule can have this name.
    package static let owner = "$undeleted"

    /// The step of a mute that was refused.
    package static let mute = "mute"

    /// `reportTo`: where staff read of rules that do not say. The continuation's place is that of the message.
    package static func continuation(
        by rule: String, why: String, in place: Place, author: String?, inCase name: String?,
        reportTo: String?
    ) -> Continuation {
        var continuation = Continuation(owner: owner, step: "delete", values: ["rule": rule, "why": why])
        continuation.values["author"] = author
        continuation.values["case"] = name
        continuation.values["to"] = reportTo
        continuation.place = place
        return continuation
    }

    /// Somebody whom the service did not mute. `deletes`: what they write is deleted instead.
    package static func continuation(
        by rule: String, why: String, in place: Place, of user: String, deletes: Bool, inCase name: String?,
        reportTo: String?
    ) -> Continuation {
        var continuation = continuation(
            by: rule, why: why, in: place, author: user, inCase: name, reportTo: reportTo)
        continuation.step = mute
        continuation.values["deletes"] = deletes ? "" : nil
        return continuation
    }
}
