internal import Rules

/// Reads `steward COMMAND --option VALUE …`.
enum CommandLineReader {
    enum Call {
        case run(Command, Arguments)
        /// Asked for, so it goes to standard output and all is well.
        case help(String)
        /// Not understood.
        case mistake(String)
    }

    static func read(_ words: [String]) -> Call {
        guard let first = words.first else { return .mistake(Help.overview()) }
        if ["--help", "-h"].contains(first) { return .help(Help.overview()) }
        if ["--version", "-V"].contains(first) { return .help("steward \(Version.current)\n") }
        let rest = Array(words.dropFirst())
        guard let command = Command.all.first(where: { $0.name == first }) else { return unknown(first) }
        return options(of: command, in: rest)
    }

    private static func options(of command: Command, in words: [String]) -> Call {
        var arguments = Arguments()
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            if ["--help", "-h"].contains(word) { return .help(Help.of(command)) }
            guard word.hasPrefix("--") else {
                let first = command.words()
                if command.operands != nil, arguments.word == nil, first.contains(word) {
                    arguments.word = word
                    continue
                }
                if let most = command.operands?.count.upperBound {
                    guard arguments.operands.count < most, word == "-" || !word.hasPrefix("-") else {
                        return mistake("unexpected \"\(word)\"", command)
                    }
                    arguments.operands.append(word)
                    continue
                }
                let known = command.words()
                guard !known.isEmpty, arguments.word == nil else {
                    return mistake("unexpected \"\(word)\"", command)
                }
                guard known.contains(word) else {
                    let hint = Suggestion.hint(for: word, among: known)
                    return mistake(
                        "unknown word \"\(word)\" - "
                            + (hint ?? "known here: \(known.joined(separator: ", "))"), command)
                }
                arguments.word = word
                continue
            }
            let parts = word.dropFirst(2).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = command.options.first(where: { $0.name == name }) else {
                let hint = Suggestion.nearest(to: name, among: command.options.map(\.name))
                return mistake(
                    "unknown option \"--\(name)\"" + (hint.map { " - did you mean \"--\($0)\"?" } ?? ""),
                    command)
            }
            guard arguments.values[name] == nil else {
                return mistake("\"--\(name)\" is there twice", command)
            }
            if let what = option.value {
                if parts.count == 2 {
                    arguments.values[name] = String(parts[1])
                } else if index < words.count {
                    arguments.values[name] = words[index]
                    index += 1
                } else {
                    return mistake("\"--\(name)\" needs a \(what)", command)
                }
            } else {
                guard parts.count == 1 else { return mistake("\"--\(name)\" takes no value", command) }
                arguments.values[name] = ""
            }
        }
        if let missing = command.options.first(where: { $0.isRequired && arguments.values[$0.name] == nil }) {
            return mistake("\"--\(missing.name)\" is missing", command)
        }
        if let operands = command.operands, arguments.operands.count < operands.count.lowerBound {
            return mistake("\(operands.names) is missing", command)
        }
        return .run(command, arguments)
    }

    private static func unknown(_ name: String) -> Call {
        let hint = Suggestion.nearest(to: name, among: Command.all.map(\.name))
        return .mistake(
            "steward: unknown command \"\(name)\"" + (hint.map { " - did you mean \"\($0)\"?" } ?? "")
                + "\nsteward --help lists the commands\n")
    }

    private static func mistake(_ text: String, _ command: Command) -> Call {
        .mistake("steward \(command.name): \(text)\nsteward \(command.name) --help shows its options\n")
    }
}
