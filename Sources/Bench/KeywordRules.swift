internal import Chat
internal import Rules
internal import Services

/// A set of rules, each of which answers one keyword.
enum KeywordRules {
    static let account = "twilio"

    static func source(_ keywords: some Sequence<String>, extra: String = "") -> String {
        var text = "version: 1\nrules:\n" + extra
        for (number, keyword) in keywords.enumerated() {
            text += """
                  answer-\(number):
                    when: messageAdded
                    if: {text: {has_any: [\(keyword)]}}
                    do:
                      - reply: "{{ user.name }}, \(keyword) is explained in the handbook."

                """
        }
        return text
    }

    static let directory = Directory(
        accounts: [account: .init(service: "twilio", abilities: TwilioService.abilities, joins: [])])

    static func load(_ keywords: some Sequence<String>) throws -> RuleSet {
        let loaded = RuleSet.load(
            [BotSource(name: "bench.yaml", bytes: Array(source(keywords).utf8))], directory: directory)
        guard let rules = loaded.rules else {
            throw BenchError("the bench's rules are wrong: \(loaded.errors.first?.description ?? "")")
        }
        return rules
    }
}

/// Why a figure could not be got.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
