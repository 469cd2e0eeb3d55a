/// Help texts, made from the table of commands.
enum Help {
    static func overview() -> String {
        let commands = Command.all.map { "  \(padded($0.name, 12))\($0.summary)\n" }.joined()
        return """
            Usage: steward COMMAND [OPTIONS]

            Steward logs in to chat services and lets rules and plugins answer, moderate and relay.

            Commands:
            \(commands)
            steward COMMAND --help shows the options of a command.
            Exit codes: 0 fine, 1 findings or failure, 2 wrong usage, 78 wrong configuration.

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
        var text =
            "Usage: " + (["steward", command.name] + word + usage + operands).joined(separator: " ") + "\n\n"
        text += wrapped(command.details) + "\n"
        if !command.options.isEmpty { text += "\nOptions:\n" }
        for option in command.options {
            text += "  \(padded("--\(option.name) \(option.value ?? "")", 22))\(option.summary)\n"
        }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func wrapped(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count >= 80 { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.joined(separator: "\n")
    }
}
