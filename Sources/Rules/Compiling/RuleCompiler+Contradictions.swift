internal import Chat
internal import Unicode

/// Conditions that contradict themselves, so that what is written can never hold.
extension RuleCompiler {
    func checkSense(of test: BotModeTest, at spot: Spot?) {
        guard let spot, !modes.names.isEmpty, Set(modes.all).isSubset(of: test.notModes.map(\.value)) else {
            return
        }
        never("there is always one of these modes", at: spot, hint: "leave one out")
    }

    func checkSense(of user: BotUser) {
        if user.firstTime == true {
            if user.away != nil {
                never("who was never seen was never away", at: user.spot, hint: "remove first_time or away")
            }
            if let messages = user.messages, !messages.contains(0) {
                never(
                    "who was never seen wrote nothing", at: user.spot, hint: "remove first_time or messages")
            }
        }
        if let other = user.isNot,
            ["user", "user.name", "user.id", "user.mention"].contains(other.value.text)
        {
            never("nobody is somebody else than they are", at: other.spot, hint: "name another: match.who")
        }
    }

    func checkSense(of text: BotText) {
        guard let none = text.none else { return }
        let excluded = Set(none.map { $0.value.folded(to: .plain) })
        func isExcluded(_ word: Placed<String>) -> Bool { excluded.contains(word.value.folded(to: .plain)) }
        if let word = text.all?.first(where: isExcluded) {
            never(
                "\"\(word.value.shortened)\" must be there, and must not", at: word.spot,
                hint: "remove it from has_none")
        } else if let any = text.any, let word = any.first, any.allSatisfy(isExcluded) {
            never(
                "none of these words may be there, and one must", at: word.spot,
                hint: "remove one from has_none")
        }
    }

    private func never(_ problem: String, at spot: Spot, hint: String) {
        findings.error(problem, at: spot, hint: hint, code: .neverRuns)
    }

    func check(_ reactions: [Placed<String>], in places: [Placed<String>]) {
        let services = accounts(reachedBy: places.map(\.value)).map(\.account.service)
        for key in reactions {
            guard let fault = ReactionKey(key.value).fault(on: services) else { continue }
            findings.error(fault.problem, at: key.spot, hint: fault.hint)
        }
    }

    /// The accounts of the places; all of them for none, for a pattern, and for direct channels.
    func accounts(reachedBy places: [String]) -> [(name: String, account: Directory.Account)] {
        let reached = places.flatMap(directory.places).map(\.account)
        let isOpen = places.isEmpty || places.contains { $0 == Scope.direct || $0.contains("*") }
        return directory.accounts.sorted { $0.key < $1.key }.filter { isOpen || reached.contains($0.key) }
            .map { ($0.key, $0.value) }
    }
}
