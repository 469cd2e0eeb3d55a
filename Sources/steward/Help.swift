internal import Rules

/// Help texts, made from the table of commands.
enum Help {
    static func overview() -> String {
        let commands = Command.all.map { "  \(padded($0.name, 12))\($0.summary)\n" }.joined()
        return """
            Usage: steward COMMAND [OPTIONS]

            Steward logs in to chat services and lets rules and plugins answer, moderate
            and relay.

            Commands:
            \(commands)
            steward COMMAND --help shows the options of a command.
            Exit codes: 0 fine, 1 findings or failure, 2 wrong usage, 78 bad configuration.

            """
    }

    static func of(_ command: Command) -> String {
        let usage = command.options.map { option in
            let text = option.value.map { "--\(option.name) \($0)" } ?? "--\(option.name)"
            return option.isRequired ? text : "[\(text)]"
        }
        let operands = command.operands.map { [$0.count.lowerBound == 0 ? "[\($0.names)]" : $0.names] } ?? []
        let words = command.words()
        let word = words.isEmpty ? [] : ["[\(words.count > 4 ? "COMMAND" : words.joined(separator: "|"))]"]
        // A blank within an option would let the line end there.
        let parts = (["steward", command.name] + word + usage + operands).map {
            $0.replacing(" ", with: "\u{A0}")
        }
        let whole = Columns.wrapped("Usage: " + parts.joined(separator: " "), to: 80, indent: 7)
        var text = whole.joined(separator: "\n").replacing("\u{A0}", with: " ") + "\n\n"
        text += Columns.wrapped(command.details, to: 80, indent: 0).joined(separator: "\n") + "\n"
        if !command.options.isEmpty { text += "\nOptions:\n" }
        for option in command.options {
            let line = "  \(padded("--\(option.name) \(option.value ?? "")", 22))\(option.summary)"
            text += Columns.wrapped(line, to: 80, indent: 24).joined(separator: "\n") + "\n"
        }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
