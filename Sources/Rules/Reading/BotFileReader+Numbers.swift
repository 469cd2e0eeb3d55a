internal import Chat
internal import YAML

/// Times and numbers, and ranges of them that something can be in.
extension BotFileReader {
    func duration(_ node: YAMLNode) -> Duration? {
        short(node) { (text: String) throws(ShortFormError) in try Duration(text: text) }
    }

    /// A time that is some time.
    func time(_ node: YAMLNode, hint: String = "write 10m, or leave it out") -> Duration? {
        guard let time = duration(node) else { return nil }
        guard time > .zero else {
            error("\"\(node.text ?? "")\" is no time at all", at: node, hint: hint)
            return nil
        }
        return time
    }

    /// A range of numbers, none of them below nothing.
    func numbers(_ node: YAMLNode) -> Bounds<Int64>? {
        text(node).flatMap { numbers($0, node) }
    }

    func numbers(_ text: String, _ node: YAMLNode) -> Bounds<Int64>? {
        range(node) { () throws(ShortFormError) in
            let range = try Bounds(numbers: text)
            return (range, Span(range))
        }
    }

    /// A range of times; none is met to the millisecond.
    func durations(_ node: YAMLNode) -> Bounds<Duration>? {
        guard let text = text(node) else { return nil }
        let read = range(node) { () throws(ShortFormError) in
            let range = try Bounds(durations: text)
            return (range, Span(range))
        }
        guard let range = read else { return nil }
        if range.lowest != nil, range.lowest == range.highest {
            error(
                "nothing lasts \"\(text)\" to the millisecond", at: node,
                hint: "write \(text)+, over \(text) or under \(text)")
            return nil
        }
        return range
    }

    /// A range of parts of a hundred.
    func percentages(_ node: YAMLNode) -> Bounds<Int64>? {
        guard let text = text(node) else { return nil }
        return range(node, upTo: 100) { () throws(ShortFormError) in
            let range = try Bounds(percent: text)
            return (range, Span(range))
        }
    }

    /// A range in which something between nothing and the most can be, and something cannot.
    private func range<Value>(
        _ node: YAMLNode, upTo highest: Int64? = nil,
        _ read: () throws(ShortFormError) -> (Bounds<Value>, Span)
    ) -> Bounds<Value>? {
        let (range, span): (Bounds<Value>, Span)
        do throws(ShortFormError) {
            (range, span) = try read()
        } catch {
            note(error, at: spot(node))
            return nil
        }
        if [span.most, span.least].contains(where: { $0.map { $0 < 0 } == true }) {
            error(
                "there is never less than nothing", at: node, hint: "write from which or to which it goes: 1+"
            )
        } else if let highest, let least = span.least, least > highest {
            error("there is never more than all", at: node, hint: "try 80%+")
        } else if (span.least ?? 0) == 0, span.most.map({ $0 >= highest ?? .max }) ?? true {
            error("\"\(range.text)\" is always so", at: node, hint: "remove it, or write what it must be")
        } else {
            return range
        }
        return nil
    }
}

extension Bounds<Int64> {
    /// Reads `80%`, `80%+`, `under 10%`.
    init(percent text: String) throws(ShortFormError) {
        try self.init(text: text) { (word: String) throws(ShortFormError) in
            guard word.hasSuffix("%"), let number = Int64(word.dropLast()), (0...100).contains(number) else {
                throw ShortFormError(
                    problem: "\"\(word)\" is not a percentage", hint: "try \"80%+\" or \"over 80%\"")
            }
            return number
        }
    }
}

extension String {
    /// Whether nothing of it can be seen.
    var isBlank: Bool {
        unicodeScalars.allSatisfy { scalar in
            scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
                || scalar.properties.generalCategory == .control
        }
    }
}
