internal import Chat
internal import Unicode

/// Looks for what is allowed and probably not meant, once nothing else is wrong.
struct RuleLint {
    let files: [BotFile]
    let drafts: [RuleDraft]
    let findings: Findings
    let lists: [String: [Placed<String>]]
    /// Names that some rule uses: `$list`, `group name`, `file vars.name`, `rule vars.name`.
    let used: Set<String>
    let askedPermits: [Placed<String>]

    func run() {
        for file in files { checkNames(of: file) }
        checkModeration()
        for words in lists.sorted(by: { $0.key < $1.key }).map(\.value) {
            for word in words {
                checkLooks(of: word, isInFile: !files.contains { $0.name == word.spot.file })
            }
        }
        for draft in drafts {
            let rule = draft.source
            if let condition = rule.condition { checkWords(of: condition.value) }
            for step in rule.steps { checkBraces(of: step) }
            checkWhom(rule)
            checkOften(rule, stage: draft.stage)
            checkAnswersAll(rule, stage: draft.stage)
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
        for window in file.windows where !used.contains("window \(window.name.value)") {
            findings.warn(
                "no rule asks for the window \"\(window.name.value)\"", at: window.name.spot,
                hint: "write if: {time: \(window.name.value)}, or remove it", code: .unusedName)
        }
        for counter in file.counters where !used.contains("counter \(counter.name.value)") {
            findings.warn(
                "no rule counts \"\(counter.name.value)\", so it is always 0", at: counter.name.spot,
                hint: "write count: {\(counter.name.value): +1}, or remove it", code: .unusedName)
        }
        for rule in file.rules {
            for name in rule.vars.map(\.name) where !used.contains("\(rule.id.value) vars.\(name.value)") {
                findings.warn(
                    "nothing in this rule uses the variable \"\(name.value)\"", at: name.spot,
                    hint: "write {{ vars.\(name.value) }}, or remove it", code: .unusedName)
            }
        }
    }

    // MARK: Words

    private func checkWords(of condition: BotCondition) {
        switch condition {
        case .all(let list), .any(let list): for condition in list { checkWords(of: condition) }
        case .not(let inner): checkWords(of: inner)
        case .text(let text):
            if text.fold?.value != FoldLevel.exact.rawValue { checkCovered(text.any ?? [], text.match) }
            for word in (text.any ?? []) + (text.all ?? []) + (text.none ?? []) where !word.value.isListName {
                checkLooks(of: word, isInFile: false)
            }
            for regex in text.regexes ?? [] { checkSlashes(around: regex) }
        default: break
        }
    }

    /// Words that change nothing, because a shorter one of the same list is found wherever they are.
    private func checkCovered(_ written: [Placed<String>], _ match: BotText.Match) {
        let words = written.flatMap { word in
            word.value.isListName ? lists[String(word.value.dropFirst())] ?? [] : [word]
        }
        // Each is compared with each.
        guard words.count <= 300 else { return }
        let looks = words.map { SoughtWords($0.value, match) }
        for (index, long) in looks.enumerated() {
            let cover = looks.indices.first { other in
                other != index && looks[other].covers(long) && (looks[other] != long || other < index)
            }
            guard let cover else { continue }
            let isSame = looks[cover] == long
            findings.warn(
                "\"\(words[index].value.shortened)\" changes nothing: \"\(words[cover].value.shortened)\" \(isSame ? "is the same" : "is found wherever it is")",
                at: words[index].spot, hint: "remove one of the two", code: .coveredWord)
        }
    }

    // MARK: What is taken as it stands

    /// A word that is written as other programs want it.
    private func checkLooks(of word: Placed<String>, isInFile: Bool) {
        let text = word.value
        let quotes: [(Character, Character)] = [
            ("\"", "\""), ("'", "'"), ("\u{201C}", "\u{201D}"), ("\u{201E}", "\u{201C}"),
            ("\u{00AB}", "\u{00BB}"),
        ]
        if text.count > 2, quotes.contains(where: { text.first == $0.0 && text.last == $0.1 }) {
            literal("the quotes are part of the word \(text.shortened)", word, "write it without them")
        } else if isInFile, text.hasPrefix("- ") {
            literal(
                "\"- \" is part of the word here", word, "write one word or phrase a line, nothing before it")
        } else if isInFile, text.contains(", ") {
            literal(
                "the comma makes one phrase of \"\(text.shortened)\"", word,
                "put each word on a line of its own")
        } else if text.contains(".*") || text.contains("\\b") || text.hasPrefix("(?") {
            literal(
                "\"\(text.shortened)\" is looked for letter by letter", word,
                "an expression belongs to regex:")
        }
    }

    private func checkSlashes(around regex: Placed<String>) {
        let text = regex.value
        guard text.count > 2, text.hasPrefix("/"), text.hasSuffix("/") || text.hasSuffix("/i") else { return }
        literal(
            "the slashes are part of the expression", regex,
            "remove them" + (text.hasSuffix("i") ? ", and begin with (?i)" : ""))
    }

    /// `{user}` and its kin are templates elsewhere.
    private func checkBraces(of step: BotStep) {
        for template in [step.message.text, step.message.footer].compactMap(\.self) {
            for case .text(let text) in template.pieces {
                guard let found = Self.braces(in: text) else { continue }
                findings.warn(
                    "\"\(found.written)\" is printed as it stands", at: step.spot,
                    hint: "write {{ \(found.value) }}", code: .takenLiterally)
            }
        }
    }

    private static func braces(in text: String) -> (written: String, value: String)? {
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            let inner = String(rest[rest.index(after: open)..<close]).trimmed
            if TemplateRoot.paths.contains(inner) { return (String(rest[open...close]), inner) }
            if ["name", "username", "user_name"].contains(inner) {
                return (String(rest[open...close]), "user.name")
            }
            rest = rest[rest.index(after: close)...]
        }
        return nil
    }

    private func literal(_ problem: String, _ word: Placed<String>, _ hint: String) {
        findings.warn(problem, at: word.spot, hint: hint, code: .takenLiterally)
    }

    // MARK: Answers

    /// Said so often that an answer each time would drown a channel.
    private static let everyday: Set<String> = [
        "a", "and", "bye", "good", "hello", "hey", "hi", "how", "i", "is", "it", "lol", "no", "not", "ok",
        "okay",
        "please", "so", "sorry", "thanks", "that", "the", "this", "to", "what", "who", "why", "yes", "you",
    ]

    private func checkOften(_ rule: BotRule, stage: Stage) {
        guard rule.answersEachTime(stage),
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

    private func checkAnswersAll(_ rule: BotRule, stage: Stage) {
        guard rule.answersEachTime(stage), rule.condition?.value.holdsUsually ?? true,
            !(!rule.places.isEmpty && rule.places.allSatisfy { $0.value == Scope.direct }),
            let step = rule.steps.first(where: \.speaksHere)
        else { return }
        findings.warn(
            "this answers each message that people write", at: step.spot,
            hint: "add cooldown: 10m per channel, or say under if: what it answers", code: .answersOften)
    }
}

extension BotStep {
    /// Whether it says something where the event was.
    fileprivate var speaksHere: Bool { verb == .reply || verb == .send && message.to.isEmpty }
}

extension BotRule {
    /// Whether it answers messages, and each for which its conditions hold.
    fileprivate func answersEachTime(_ stage: Stage) -> Bool {
        stage == .answer && cooldown == nil && once == nil && batch == nil && command == nil
            && when.contains { $0.value == .messageAdded } && steps.contains(where: \.speaksHere)
    }
}
