/// What kind of thing is wrong: a name for programs that read findings, and for comments that allow a warning.
package enum FindingCode: String, Sendable, CaseIterable {
    // Errors.
    case brokenYAML = "broken-yaml"
    case unknownName = "unknown-name"
    case notBuilt = "not-built"
    case declaredTwice = "declared-twice"
    case missingKey = "missing-key"
    case neverRuns = "never-runs"
    case wrongValue = "wrong-value"
    case failedExample = "failed-example"
    case failedTest = "failed-test"
    // Warnings.
    case commentAfterText = "comment-after-text"
    case unusedAnchor = "unused-anchor"
    case unusedName = "unused-name"
    case uncheckedName = "unchecked-name"
    case eventNotTold = "event-not-told"
    case editsUnseen = "edits-unseen"
    case shortWord = "short-word"
    case coveredWord = "covered-word"
    case linkSkipped = "link-skipped"
    case matchesEverything = "matches-everything"
    case asciiClass = "ascii-class"
    case neverFolded = "never-folded"
    case slowExpression = "slow-expression"
    case answersOften = "answers-often"
    case neverMet = "never-met"
    case takenLiterally = "taken-literally"
    case neverEnds = "never-ends"
    case anybodyPunishes = "anybody-punishes"
    case style

    /// What it is about, for the manual; nil for errors, which cannot be allowed.
    package var about: String? {
        switch self {
        case .brokenYAML, .unknownName, .notBuilt, .declaredTwice, .missingKey, .neverRuns, .wrongValue,
            .failedExample, .failedTest:
            nil
        case .commentAfterText: "text for people is followed by a comment that was probably part of it"
        case .unusedAnchor: "an anchor (`&name`) that nothing refers to, probably text that begins with `&`"
        case .unusedName: "a list, variable, window, counter, group, ladder, mode or permit that nothing uses"
        case .uncheckedName: "a channel or role that cannot be checked, because there is no `config.yaml`"
        case .eventNotTold: "an event that not every account tells of"
        case .editsUnseen: "a rule that removes does not look at edits, so forbidden text can be edited in"
        case .shortWord:
            "a word of less than five letters that matches inside of others, in a rule that removes"
        case .coveredWord: "a word that another of the same list covers"
        case .linkSkipped: "a word or expression for links where links are skipped"
        case .matchesEverything: "an expression that matches every text"
        case .asciiClass: "`\\b`, `\\w` or `\\d`, which know ASCII only, beside a letter that is not"
        case .neverFolded: "an expression for letters that `fold` leaves in no text"
        case .slowExpression: "an expression without any letters that must occur; it is tried on every text"
        case .answersOften:
            "a rule answers a single everyday word, or whatever people write, each time"
        case .neverMet: "a rule for channels of which there is none yet"
        case .takenLiterally:
            "quotes, slashes, braces, commas or a person's name that are taken for something else than was probably meant"
        case .neverEnds: "a mute, a lock or a window without an end"
        case .anybodyPunishes: "a command by which everybody may punish others"
        case .style: "anything else that is probably not meant"
        }
    }

    /// Those that a comment can allow.
    package static var warnings: [FindingCode] { allCases.filter { $0.about != nil } }
}
