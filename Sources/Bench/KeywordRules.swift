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

    /// Ten rules as a community has them: a greeting, words, an expression, links, capitals, mentions, length, a rate, a
    /// command, and a command for moderators. In the bench's traffic only the first keyword of the words and the one of
    /// the expression occur.
    static func mixed(_ keywords: [String], extra: String = "") -> String {
        """
        version: 1
        rules:
        \(extra)  greeting: {when: memberJoined, once: per user, do: [{send: "Welcome, {{ user.name }}!"}]}
          words: {when: messageAdded, if: {text: {has_any: [\(keywords[0]), "opening hours"]}}, do: [{reply: "Nine to five."}]}
          expression: {when: messageAdded, if: {text: {regex: '(?i)\\b\(keywords[1])\\b'}}, do: [{reply: "See the handbook."}]}
          links: {when: [messageAdded, messageEdited], if: {links: {hosts_in: [bit.ly, tinyurl.com]}}, do: [delete]}
          capitals: {when: [messageAdded, messageEdited], if: {caps: {share: 80%+, letters: 15+}}, cooldown: 5m per user, do: [{warn: "No need to shout."}]}
          mentions: {when: [messageAdded, messageEdited], if: {mentions: 6+}, do: [delete]}
          length: {when: [messageAdded, messageEdited], if: {length: over 3000}, do: [delete]}
          flood: {when: messageAdded, if: {rate: 7 messages in 10s per user}, do: [delete]}
          hours: {when: {command: hours}, do: [{reply: "Nine to five."}]}
          rules: {when: {command: rules}, exempt: none, do: [{reply: "Be kind."}]}

        """
    }

    static let directory = Directory(
        accounts: [account: .init(service: "twilio", abilities: TwilioService.abilities, joins: [])])

    static func load(_ keywords: some Sequence<String>) throws -> RuleSet { try load(text: source(keywords)) }

    static func load(text: String) throws -> RuleSet {
        let loaded = RuleSet.load(
            [BotSource(name: "bench.yaml", bytes: Array(text.utf8))], directory: directory)
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
