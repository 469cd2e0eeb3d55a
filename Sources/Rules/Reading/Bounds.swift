/// A range in its short form: `5`, `5+`, `over 2000`, `under 10m`, `2 to 5`.
struct Bounds<Value: Comparable & Sendable>: Sendable {
    var lowest: Value?
    var highest: Value?
    /// Whether the ends themselves are outside.
    var isOpen = false
    /// As it was written.
    let text: String

    func contains(_ value: Value) -> Bool {
        if let lowest, isOpen ? value <= lowest : value < lowest { return false }
        if let highest, isOpen ? value >= highest : value > highest { return false }
        return true
    }

    /// `read` reads one number; its error is passed on.
    init(text: String, read: (String) throws(ShortFormError) -> Value) throws(ShortFormError) {
        self.text = text
        let words = text.split(separator: " ").map(String.init)
        switch (words.count, words.first) {
        case (2, "over"):
            lowest = try read(words[1])
            isOpen = true
        case (2, "under"):
            highest = try read(words[1])
            isOpen = true
        case (3, _) where words[1] == "to":
            var mistakes = ShortFormMistakes()
            let low = mistakes.read { () throws(ShortFormError) in try read(words[0]) }
            let high = mistakes.read { () throws(ShortFormError) in try read(words[2]) }
            try mistakes.end()
            if let low, let high, low > high {
                throw ShortFormError(
                    problem: "\"\(text)\" holds nothing", hint: "put the smaller number first")
            }
            (lowest, highest) = (low, high)
        case (1, let word?) where word.hasSuffix("+"): lowest = try read(String(word.dropLast()))
        case (1, let word?):
            let value = try read(word)
            (lowest, highest) = (value, value)
        default:
            throw ShortFormError(
                problem: "\"\(text)\" is not a range",
                hint: "try \"5\", \"5+\", \"over 5\", \"under 5\" or \"2 to 5\"")
        }
    }
}

extension Bounds<Duration> {
    init(durations text: String) throws(ShortFormError) {
        try self.init(text: text) { (word: String) throws(ShortFormError) in try Duration(text: word) }
    }
}

extension Bounds {
    /// What is written behind a command, so long or so far off, would never be taken.
    fileprivate func checked(_ span: Span, _ what: String, _ hint: String) throws(ShortFormError) {
        guard let most = span.most, most < 1 else { return }
        throw ShortFormError(problem: "\"\(text)\" lets nobody write \(what)", hint: hint)
    }
}

extension Bounds<Duration> {
    /// Bounds of a time that people write.
    init(times text: String) throws(ShortFormError) {
        try self.init(durations: text)
        try checked(Span(self), "a time", "try \"1m to 365d\"")
    }
}

extension Bounds<Int64> {
    /// Bounds of how many letters people write.
    init(lengths text: String) throws(ShortFormError) {
        try self.init(numbers: text)
        try checked(Span(self), "a letter", "try \"1 to 50\"")
    }

    init(numbers text: String) throws(ShortFormError) {
        try self.init(text: text) { (word: String) throws(ShortFormError) in
            guard let number = Int64(word) else {
                throw ShortFormError(
                    problem: "\"\(word)\" is not a whole number",
                    hint: "try \"5\", \"5+\", \"over 5\" or \"2 to 5\"")
            }
            return number
        }
    }
}
