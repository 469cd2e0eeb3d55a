internal import Chat
internal import Unicode

/// Looks for what is allowed and probably not meant, once nothing else is wrong.
struct RuleLint {
    let files: [BotFile]
    let drafts: [RuleDraft]
    let findings: Findings
    let lists: [String: [Placed<String>]]
    /// Names that some rule uses: `$list`, `group name`, `file vars.name`.
    let used: Set<String>

    func run() {
        for file in files { checkNames(of: file) }
        for draft in drafts {
            let rule = draft.source
            if let condition = rule.condition { checkWords(of: condition.value) }
            checkOften(rule, stage: draft.stage)
        }
    }

    private func checkNames(of file: BotFile) {
        for list in file.lists where !used.contains("$\(list.name.value)") {
            findings.warn(
                "no rule uses the list \"\(list.name.value)\"", at: list.name.spot,
                hint: "write $\(list.name.value) where words are expected, or remove it", code: .unusedName)
        }
        for group in file.groups where !used.contains("group \(group.name.value)") {
            findings.warn(
                "no rule belongs to the group \"\(group.name.value)\"", at: group.name.spot,
                hint: "write group: \(group.name.value) in its rules, or remove it", code: .unusedName)
        }
        for (name, spot) in file.varSpots.sorted(by: { $0.key < $1.key })
        where !used.contains("\(file.name) vars.\(name)") {
            findings.warn(
                "no text of this file uses the variable \"\(name)\"", at: spot,
                hint: "write {{ vars.\(name) }}, or remove it", code: .unusedName)
        }
    }

    // MARK: Words

    private func checkWords(of condition: BotCondition) {
        switch condition {
        case .all(let list), .any(let list): for condition in list { checkWords(of: condition) }
        case .not(let inner): checkWords(of: inner)
        case .text(let text): if text.match == .word { checkCovered(text.any ?? []) }
        default: break
        }
    }

    /// Words that change nothing, because a shorter one of the same list is found wherever they are.
    private func checkCovered(_ written: [Placed<String>]) {
        let words = written.flatMap { word in
            word.value.isListName ? lists[String(word.value.dropFirst())] ?? [] : [word]
        }
        // Each is compared with each.
        guard words.count <= 300 else { return }
        let pieces = words.map { Self.pieces(of: $0.value) }
        for (index, long) in pieces.enumerated() where !long.isEmpty {
            let cover = pieces.indices.first { other in
                other != index && !pieces[other].isEmpty && pieces[other].count <= long.count
                    && (pieces[other] != long || other < index) && Self.has(long, pieces[other])
            }
            guard let cover else { continue }
            let isSame = pieces[cover] == long
            findings.warn(
                "\"\(words[index].value.shortened)\" changes nothing: \"\(words[cover].value.shortened)\" \(isSame ? "is the same" : "is found wherever it is")",
                at: words[index].spot, hint: "remove one of the two", code: .coveredWord)
        }
    }

    /// Folded, cut at spaces; nothing for what has more than letters, digits and spaces, whose borders are Unicode's.
    private static func pieces(of word: String) -> [String] {
        let folded = word.folded(to: .plain)
        let isSimple = folded.unicodeScalars.allSatisfy {
            $0 == " " || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
        return isSimple ? folded.split(separator: " ").map(String.init) : []
    }

    private static func has(_ long: [String], _ short: [String]) -> Bool {
        (0...(long.count - short.count)).contains { long[$0..<($0 + short.count)].elementsEqual(short) }
    }

    // MARK: Answers

    /// Said so often that an answer each time would drown a channel.
    private static let everyday: Set<String> = [
        "a", "and", "bye", "good", "hello", "hey", "hi", "how", "i", "is", "it", "lol", "no", "not", "ok",
        "okay",
        "please", "so", "sorry", "thanks", "that", "the", "this", "to", "what", "who", "why", "yes", "you",
    ]

    private func checkOften(_ rule: BotRule, stage: Stage) {
        guard stage == .answer, rule.cooldown == nil, rule.once == nil, rule.batch == nil,
            rule.command == nil,
            rule.when.contains(where: { $0.value == .messageAdded }),
            rule.steps.contains(where: { $0.verb == .reply || $0.verb == .send && $0.message.to.isEmpty }),
            case .text(let text)? = rule.condition?.value, let words = text.any, text.all == nil,
            text.none == nil,
            text.regexes == nil, text.near == nil, text.equals == nil, text.starts == nil, text.ends == nil
        else { return }
        guard let word = words.first(where: { Self.everyday.contains($0.value.folded(to: .plain)) }) else {
            return
        }
        findings.warn(
            "people say \"\(word.value)\" all the time, and this rule answers each time", at: word.spot,
            hint: "add cooldown: 10m per channel", code: .answersOften)
    }
}
