/// What makes a shell complete steward's commands and options, made from the table of commands.
enum Completion {
    enum Shell: String, CaseIterable { case bash, zsh, fish }

    static func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private static var bash: String {
        let files = options { $0 == "FILE" || $0 == "FOLDER" }
        let others = options { $0 != "FILE" && $0 != "FOLDER" }
        let cases = Command.all.map { command in
            let words = command.words() + command.options.map { "--\($0.name)" } + ["--help"]
            let files = command.operands == nil ? "" : " files=-f"
            return "            \(command.name)) words='\(words.joined(separator: " "))'\(files) ;;\n"
        }.joined()
        return """
            _steward() {
                local words='' files='' current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
                case $previous in
                    \(files)) COMPREPLY=($(compgen -f -- "$current")); return ;;
                    \(others)) return ;;
                esac
                if [ "$COMP_CWORD" -eq 1 ]; then
                    words='\(Command.all.map(\.name).joined(separator: " ")) --help --version'
                else
                    case ${COMP_WORDS[1]} in
            \(cases)        esac
                fi
                COMPREPLY=($(compgen $files -W "$words" -- "$current"))
            }
            complete -o filenames -F _steward steward

            """
    }

    /// The options with such a value, as a pattern of the shell.
    private static func options(_ takes: (String) -> Bool) -> String {
        let names = Command.all.flatMap(\.options).filter { $0.value.map(takes) ?? false }.map {
            "--\($0.name)"
        }
        return Set(names).sorted().joined(separator: "|")
    }

    private static var zsh: String {
        let commands = Command.all.map { "        '\($0.name):\(quotable($0.summary))'\n" }.joined()
        let cases = Command.all.map { command in
            var words = command.options.map { option in
                let action = option.value.map { $0 == "FILE" ? ":\($0):_files" : ":\($0): " } ?? ""
                return "'--\(option.name)[\(quotable(option.summary))]\(action)'"
            }
            words.append("'--help[show the options]'")
            let known = command.words()
            if command.operands != nil { words.append("'*:file:_files'") }
            if !known.isEmpty { words.append("'1:word:(\(known.joined(separator: " ")))'") }
            return "        \(command.name)) _arguments \(words.joined(separator: " ")) ;;\n"
        }.joined()
        return """
            #compdef steward
            _steward() {
                local -a commands
                commands=(
            \(commands)    )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                shift words
                (( CURRENT-- ))
                case $words[1] in
            \(cases)    esac
            }
            if [ "$funcstack[1]" = _steward ]; then _steward "$@"; else compdef _steward steward; fi

            """
    }

    private static var fish: String {
        var lines = ["complete -c steward -f"]
        for command in Command.all {
            let summary = quotable(command.summary)
            lines.append(
                "complete -c steward -n __fish_use_subcommand -a \(command.name) -d '\(summary)'")
            let here = "complete -c steward -n '__fish_seen_subcommand_from \(command.name)'"
            let words = command.words()
            if command.operands != nil { lines.append("\(here) -F") }
            if !words.isEmpty { lines.append("\(here) -a '\(words.joined(separator: " "))'") }
            for option in command.options {
                let takes = option.value.map { $0 == "FILE" ? " -r -F" : " -x" } ?? ""
                lines.append("\(here) -l \(option.name)\(takes) -d '\(quotable(option.summary))'")
            }
            lines.append("\(here) -l help -d 'show the options'")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Within single quotes, where brackets and colons mean something to zsh.
    private static func quotable(_ text: String) -> String {
        String(text.filter { !"'[]:".contains($0) })
    }
}
