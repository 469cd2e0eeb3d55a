internal import Chat
internal import Unicode

/// Asks whether a value is a text or lies in a range.
final class CheckTest: Sendable {
    private struct Wanted: Sendable {
        var text: String
        var numbers: Span?
        var durations: Span?
    }

    let value: Template
    /// As it was written.
    let words: [Placed<String>]
    private let wanted: [Wanted]

    init(_ check: BotCheck) {
        value = check.value
        words = check.wanted
        wanted = check.wanted.map { word in
            Wanted(
                text: Self.folded(word.value), numbers: (try? Bounds(numbers: word.value)).map { Span($0) },
                durations: (try? Bounds(durations: word.value)).map { Span($0) })
        }
    }

    func holds(_ values: TemplateValues) -> Bool {
        let value = value.value(values)
        let text = value.plain
        let folded = Self.folded(text)
        return wanted.contains { wanted in
            if wanted.text == folded { return true }
            if let span = wanted.numbers, let number = Self.number(value, text) {
                return span.contains(number)
            }
            if let span = wanted.durations, let duration = Self.duration(value, text) {
                return span.contains(duration)
            }
            return false
        }
    }

    /// What the value comes to, for people.
    func text(_ values: TemplateValues) -> String { value.value(values).plain }

    private static func folded(_ text: String) -> String { text.folded(to: .plain).trimmed }

    private static func number(_ value: TemplateValue, _ text: String) -> Int64? {
        if case .number(let number) = value { return number }
        return Int64(text.trimmed)
    }

    private static func duration(_ value: TemplateValue, _ text: String) -> Int64? {
        if case .duration(let duration) = value { return duration.milliseconds }
        return (try? Duration(text: text.trimmed))?.milliseconds
    }
}
