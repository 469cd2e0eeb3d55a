import Chat
@testable import Engine
@testable import Rules
import Testing

@testable import steward

@Suite struct RuleListings {
    private let noon = Timestamp(milliseconds: 1_781_524_800_000)

    /// The marks of the rules `often`, `seldom` and `never` so many days after a store was begun; `seldom` matched on the
    /// first day only.
    private func marks(after days: Int) -> [Character?] {
        var ledger = RuleLedger()
        ledger.begin(at: noon)
        ledger.match("seldom", at: noon)
        let now = noon + .seconds(days * 86_400)
        ledger.match("often", at: now)
        let rules = ["often", "seldom", "never"].map {
            RuleOutline(
                name: $0, stage: .answer, place: "bots/bot.yaml:3", isBuiltIn: false, run: "live", about: nil)
        }
        let lines = RulesCommand.Listing(rules: rules, store: nil).text(ledger, at: now).split(
            separator: "\n")
        return lines.filter { $0.contains("bots/bot.yaml") }.map(\.first)
    }

    @Test func `a rule that never matched is odd once the store is old enough to know`() {
        #expect(marks(after: 0) == [" ", " ", " "])
        #expect(marks(after: 29) == [" ", " ", " "])
        #expect(marks(after: 30) == [" ", " ", "!"])
        #expect(marks(after: 31) == [" ", "!", "!"])
    }

    @Test func `a rule that has another name now did what it did under the old one`() {
        var ledger = RuleLedger()
        ledger.begin(at: noon)
        ledger.match("hello", at: noon)
        let rule = RuleOutline(
            name: "greeting", was: "hello", stage: .answer, place: "bots/bot.yaml:3", isBuiltIn: false,
            run: "live", about: nil)
        let listing = RulesCommand.Listing(rules: [rule], store: nil)
        #expect(listing.text(ledger, at: noon).contains("matched just now, once a day"))
        #expect(listing.json(ledger, at: noon).contains("\"last_match\":\(noon.milliseconds)"))
    }
}
