internal import Chat
internal import Matching
internal import Unicode

/// Conditions as they are written become conditions that can be asked.
extension RuleCompiler {
    func compile(
        _ condition: BotCondition, of rule: BotRule, stage: Stage, _ groupNames: inout [String]
    ) -> Condition {
        switch condition {
        case .all(let list): return .all(list.map { compile($0, of: rule, stage: stage, &groupNames) })
        case .any(let list): return .any(list.map { compile($0, of: rule, stage: stage, &groupNames) })
        case .not(let inner): return .not(compile(inner, of: rule, stage: stage, &groupNames))
        case .count(let count):
            checkHasMessage(rule, at: count.spot)
            return .count(CountTest(count))
        case .links(let links): return compile(links, of: rule)
        case .mentions(let mentions):
            checkHasMessage(rule, at: mentions.spot)
            return .mentions(MentionTest(mentions))
        case .caps(let caps):
            checkHasMessage(rule, at: caps.spot)
            return CapsTest(caps).map { .caps($0) } ?? .any([])
        case .time(let time): return compile(time)
        case .plugin(let plugin): return compile(plugin)
        case .mode(let mode): return compile(mode)
        case .reaction(let reactions): return compile(reactions, of: rule)
        case .by(let doer): return .by(DoerTest(who: doer.who))
        case .policy(let policies): return compile(policies, of: rule)
        case .rate(let rate): return compile(rate, of: rule, stage: stage)
        case .check(let check): return .check(CheckTest(check))
        case .text(let text): return compile(text, of: rule, stage: stage, &groupNames)
        case .user(let user):
            for role in (user.roles ?? []) + (user.notRoles ?? []) { check(role: role) }
            if !rule.when.isEmpty || !rule.modeEvents.isEmpty, !rule.hasMember {
                findings.error("\(rule.eventNames) has no user", at: user.spot)
            }
            checkSense(of: user)
            let test = userTest(user)
            guard let name = user.name else { return .user(test) }
            return .all([.user(test), compile(name, of: rule, stage: stage, &groupNames)])
        }
    }

    func compile(
        _ text: BotText, of rule: BotRule, stage: Stage, _ groupNames: inout [String]
    ) -> Condition {
        check(text, of: rule, stage: stage)
        checkSense(of: text)
        let level = text.fold.flatMap { FoldLevel(rawValue: $0.value) } ?? .plain
        let lanes = text.fields.map { field in
            lane(Lane.Name(field: field, skip: field == .body ? text.skip : [], level: level))
        }
        let place = Phrase.Place(rawValue: text.match.rawValue) ?? .word
        var conditions: [Condition] = []
        func add(
            _ kind: Probe.Kind, _ words: [Placed<String>], _ place: Phrase.Place, _ anchor: Lane.Target.Anchor
        ) -> Condition {
            .found(probe(Probe(kind: kind, words: words, fields: text.fields, lanes: lanes), place, anchor))
        }
        if let words = text.any { conditions.append(add(.any, resolved(words), place, .none)) }
        if let words = text.all {
            conditions += resolved(words).map { add(.all, [$0], place, .none) }
        }
        if let words = text.equals { conditions.append(add(.equals, resolved(words), .anywhere, .whole)) }
        if let words = text.starts {
            let isOpen = place == .anywhere || place == .prefix
            conditions.append(add(.starts, resolved(words), isOpen ? .prefix : .word, .start))
        }
        if let words = text.ends {
            let isOpen = place == .anywhere || place == .suffix
            conditions.append(add(.ends, resolved(words), isOpen ? .suffix : .word, .end))
        }
        if let sources = text.regexes {
            conditions.append(regexes(sources, text, lanes, &groupNames))
        }
        if let near = text.near {
            let words = resolved(near.words)
            conditions.append(compile(near, words, level, lanes, text.fields))
        }
        if let words = text.none {
            let none = add(.none, resolved(words), place, .none)
            conditions += [.has(text.fields), .not(none)]
        }
        return conditions.count == 1 ? conditions[0] : .all(conditions)
    }

    private func compile(
        _ near: BotText.Near, _ words: [Placed<String>], _ level: FoldLevel, _ lanes: [Int],
        _ fields: [BotText.Field]
    ) -> Condition {
        let phrases = words.map { NearWord.words(of: $0.value.folded(to: level)) }
        let test = NearTest(phrases: phrases, edits: near.edits, words: words, lanes: lanes)
        let number = Int32(probes.count)
        probes.append(Probe(kind: .near, words: words, fields: fields, lanes: lanes))
        // Short pieces stand in many texts.
        sizes.append(words.count * 20)
        for (phrase, word) in zip(phrases, words) {
            if phrase.isEmpty {
                findings.error("\"\(word.value.shortened)\" has no letters", at: word.spot)
            } else if phrase.allSatisfy({ $0.count < 4 }) {
                findings.warn(
                    "\"\(word.value.shortened)\" is too short to be misspelt: one mistake for each four letters",
                    at: word.spot, hint: "move it to has_any")
            }
            for piece in NearTest.pieces(of: phrase, edits: near.edits) {
                let text = String(String.UnicodeScalarView(piece))
                for lane in lanes {
                    builders[lane].add(Phrase(text, .anywhere), for: Lane.Target(probe: number))
                }
            }
        }
        return .near(test, number)
    }

    func lane(_ name: Lane.Name) -> Int {
        if let number = laneNumbers[name] { return number }
        laneNumbers[name] = builders.count
        builders.append(LaneBuilder(name))
        return builders.count - 1
    }

    func probe(_ probe: Probe, _ place: Phrase.Place, _ anchor: Lane.Target.Anchor) -> Int32 {
        let number = Int32(probes.count)
        probes.append(probe)
        sizes.append(probe.words.count)
        for word in probe.words {
            do throws(PhraseError) {
                let phrase = try Phrase(written: word.value, in: place)
                for lane in probe.lanes
                where phrase.text.folded(to: builders[lane].name.level).trimmed.isEmpty {
                    findings.error("nothing of \"\(word.value.shortened)\" can be matched", at: word.spot)
                    break
                }
                for lane in probe.lanes {
                    builders[lane].add(phrase, for: Lane.Target(probe: number, anchor: anchor))
                }
            } catch {
                findings.error(error.text, at: word.spot)
            }
        }
        return number
    }

    func check(_ word: Placed<String>) {
        do throws(PhraseError) {
            _ = try Phrase(written: word.value)
        } catch {
            findings.error(error.text, at: word.spot)
        }
    }

    func regexes(
        _ sources: [Placed<String>], _ text: BotText, _ lanes: [Int], _ groupNames: inout [String]
    ) -> Condition {
        var probe = Probe(kind: .regex, words: sources, fields: text.fields, lanes: lanes)
        probe.seesFolded = text.fold != nil
        let number = Int32(probes.count)
        for source in sources {
            do throws(RegexError) {
                let regex = try compiled(source.value)
                probe.regexes.append(regex)
                groupNames += regex.groupNames.compactMap(\.self)
                warn(regex, source, text)
                for lane in lanes {
                    builders[lane].add(
                        regex, sees: text.fold == nil ? .original : .folded, for: number, at: source.spot)
                }
            } catch {
                findings.error(error.text, at: source.spot, hint: error.hint)
            }
        }
        probes.append(probe)
        // What it takes to try it is not known; any list of words is better.
        sizes.append(1000)
        return .found(number)
    }

    /// Instructions of large expressions: some forty megabytes.
    private static let roomForLargeRegexes = 400_000

    func compiled(_ source: String) throws(RegexError) -> Regex {
        if let known = regexes[source] { return known }
        let room = Self.roomForLargeRegexes - regexes.values.reduce(0) { $0 + ($1.isLarge ? $1.size : 0) }
        do throws(RegexError) {
            let regex = try Regex(source, mayBeLarge: room > 0)
            regexes[source] = regex
            return regex
        } catch {
            guard room <= 0, error.hint != nil else { throw error }
            throw RegexError(
                text: "the expressions of all rules are too large together", offset: nil, hint: error.hint)
        }
    }

    func warn(_ regex: Regex, _ source: Placed<String>, _ text: BotText) {
        if regex.matchesEmptyText {
            findings.warn("this expression matches every text", at: source.spot, code: .matchesEverything)
        }
        if !regex.asciiClassesBesideLetters.isEmpty {
            findings.warn(
                "\\b, \\w and \\d are ASCII here and stand beside a letter that is not", at: source.spot,
                hint: "use \\p{L} and \\p{N}", code: .asciiClass)
        }
        if let level = text.fold.flatMap({ FoldLevel(rawValue: $0.value) }),
            let (written, folded) = regex.neverFolded(to: level)
        {
            findings.warn(
                "\"\(written.shortened)\" is in no text after fold: \(level.rawValue)", at: source.spot,
                hint: folded.isEmpty ? "remove it" : "write \"\(folded.shortened)\"", code: .neverFolded)
        }
    }

    func check(_ text: BotText, of rule: BotRule, stage: Stage) {
        let events = rule.when.map(\.value)
        if text.fields == [.body], !events.isEmpty, !events.contains(where: \.hasText) {
            findings.error("\(rule.eventNames) has no text to look at", at: text.spot)
        }
        if let fold = text.fold, fold.value == FoldLevel.squeezed.rawValue,
            rule.allSteps.contains(where: { $0.verb == .delete || $0.verb.punishes })
        {
            findings.error(
                "a rule that \(rule.allSteps.contains { $0.verb == .delete } ? "deletes" : "punishes") cannot use \"squeezed\": it finds words in what was not meant",
                at: fold.spot, hint: "use loose, or report instead")
        }
        let hasWords = text.any != nil || text.all != nil || text.none != nil
        if text.isMatchWritten, !hasWords, text.starts == nil, text.ends == nil {
            findings.warn(
                "\"match\" is for words, and changes nothing here", at: text.spot,
                hint: text.regexes == nil ? "remove it" : "write \\b around what must be a word, or remove it"
            )
        }
        if text.skip.contains(.links), text.fields.contains(.body) {
            let words = (text.any ?? []) + (text.all ?? []) + (text.starts ?? []) + (text.regexes ?? [])
            if let word = words.first(where: { $0.value.contains("://") || $0.value.hasPrefix("www.") }) {
                findings.warn(
                    "links are skipped here, so this never matches one", at: word.spot,
                    hint: "add skip: none",
                    code: .linkSkipped)
            }
        }
        if stage == .guard, text.match == .anywhere {
            let words = resolvedQuietly(text.any ?? [])
            if let word = words.first(where: { $0.value.count < 5 }) {
                findings.warn(
                    "\"\(word.value)\" is short and matches inside other words", at: word.spot,
                    hint: "remove match: anywhere", code: .shortWord)
            }
        }
    }

    func resolvedQuietly(_ words: [Placed<String>]) -> [Placed<String>] {
        words.flatMap { $0.value.isListName ? lists[String($0.value.dropFirst())] ?? [] : [$0] }
    }
}
