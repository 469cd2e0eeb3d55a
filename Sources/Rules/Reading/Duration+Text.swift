internal import Chat

/// Why a short form such as `10m` or `2 to 5` cannot be read.
package struct ShortFormError: Error, Equatable {
    package var problem: String
    package var hint: String?
    /// What else is wrong in it.
    package var others: [ShortFormError] = []

    package init(problem: String, hint: String? = nil) {
        self.problem = problem
        self.hint = hint
    }
}

/// What is wrong in the parts of a short form: each is read although one before it could not be.
struct ShortFormMistakes {
    private var all: [ShortFormError] = []

    mutating func add(_ problem: String, hint: String? = nil) {
        all.append(ShortFormError(problem: problem, hint: hint))
    }

    /// Nil when the part cannot be read.
    mutating func read<Value>(_ part: () throws(ShortFormError) -> Value) -> Value? {
        do throws(ShortFormError) {
            return try part()
        } catch {
            all.append(error)
            all += error.others
            return nil
        }
    }

    /// Throws them all, if there are any.
    func end() throws(ShortFormError) {
        guard var first = all.first else { return }
        first.others = Array(all.dropFirst())
        throw first
    }
}

extension Duration {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
    ]

    /// How a time in words is written here: `10 minutes` is `10m`.
    private static func meant(_ text: String) -> String? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let word = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        let words = [
            "s": ["s", "sec", "secs", "second", "seconds"], "m": ["m", "min", "mins", "minute", "minutes"],
            "h": ["h", "hr", "hrs", "hour", "hours"], "d": ["d", "day", "days"], "w": ["w", "week", "weeks"],
        ]
        guard !digits.isEmpty, let unit = words.first(where: { $0.value.contains(word) })?.key else {
            return nil
        }
        return "write \(digits)\(unit)"
    }

    /// Reads `500ms`, `10m`, `1h30m`.
    package init(text: String) throws(ShortFormError) {
        var rest = Substring(text)
        var total: Int64 = 0
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let count = Int64(digits) else {
                throw ShortFormError(problem: "\"\(text)\" is not a duration", hint: "try \"10m\"")
            }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard !unit.isEmpty else {
                throw ShortFormError(
                    problem: "\"\(text)\" has no unit", hint: Self.meant(text) ?? "use ms, s, m, h, d or w")
            }
            guard let milliseconds = Self.units.first(where: { $0.name == unit })?.milliseconds else {
                throw ShortFormError(
                    problem: "unknown unit \"\(unit)\" in \"\(text)\"",
                    hint: Self.meant(text) ?? "use ms, s, m, h, d or w")
            }
            let (part, overflow) = count.multipliedReportingOverflow(by: milliseconds)
            guard !overflow, total <= Int64.max / 2, part <= Int64.max / 2 else {
                throw ShortFormError(problem: "\"\(text)\" is too long a time")
            }
            total += part
        } while !rest.isEmpty
        self = .milliseconds(total)
    }

    /// In words, the two largest units: `3 days 2 hours`.
    package var words: String {
        var rest = abs(milliseconds)
        if rest < 1000 { return rest == 0 ? "0 seconds" : "\(rest) ms" }
        var parts: [String] = []
        for (size, name) in [
            (604_800_000, "week"), (86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"),
            (1000, "second"),
        ]
            as [(Int64, String)]
        {
            let count = rest / size
            rest %= size
            if count > 0 { parts.append("\(count) \(name)\(count == 1 ? "" : "s")") }
            if parts.count == 2 || (!parts.isEmpty && count == 0) { break }
        }
        return parts.joined(separator: " ")
    }

    /// As a rule writes it: `10m`, `1h30m`.
    package var short: String {
        var rest = milliseconds
        if rest == 0 { return "0s" }
        var text = ""
        for (name, size) in Self.units.reversed() where rest >= size {
            text += "\(rest / size)\(name)"
            rest %= size
        }
        return text
    }
}
