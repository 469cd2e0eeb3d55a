internal import Chat
internal import Unicode

/// What a reaction is called: one emoji, or the name of one that a service has for itself, be it between colons.
struct ReactionKey {
    /// Services that have no emoji of their own names; what is not an emoji would be shown as the text it is.
    private static let withoutNames: Set = ["matrix", "twilio"]
    private static let most = 100

    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Why no reaction is ever called so on these services, and what helps; nil when one may be.
    func fault(on services: [String]) -> (problem: String, hint: String)? {
        let bare = text.trimmed
        if isEmoji || isCustom { return nil }
        if !bare.isEmpty, bare.allSatisfy(\.isReaction) {
            return bare.count == 1
                ? ("there is a blank beside the emoji \"\(bare)\"", "write \"\(bare)\"")
                : (
                    "\"\(bare.shortened)\" is more than one emoji",
                    "a reaction is one, as in \"\(bare.prefix(1))\""
                )
        }
        let isName = Self.isName(bare) && bare.contains(where: \.isLetter)
        if isName, bare == text, !services.allSatisfy(Self.withoutNames.contains) || services.isEmpty {
            return nil
        }
        return (
            "\"\(text.shortened)\" is not an emoji",
            "write one, as in \"👍\"" + (isName ? ", or one of your own by its name, \":\(bare):\"" : "")
        )
    }

    private var isEmoji: Bool { text.count == 1 && text.allSatisfy(\.isReaction) }

    private var isCustom: Bool {
        text.count > 2 && text.first == ":" && text.last == ":" && Self.isName(text.dropFirst().dropLast())
    }

    private static func isName(_ text: some StringProtocol) -> Bool {
        (1...most).contains(text.count)
            && text.unicodeScalars.allSatisfy {
                TemplatePath.isPart($0) || $0 == "+" || $0 == "." || $0 == "~"
            }
    }
}

extension Character {
    /// An emoji, or a sign that people write without what makes it one: ❤, ✓.
    fileprivate var isReaction: Bool {
        guard !isEmoji, let scalar = unicodeScalars.first else { return true }
        return scalar.value > 0x7F && scalar.properties.generalCategory == .otherSymbol
    }
}
