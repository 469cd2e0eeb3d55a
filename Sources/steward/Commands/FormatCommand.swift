internal import FoundationEssentials
internal import Glibc
internal import Rules

/// `steward fmt`: one layout for bots' files.
enum FormatCommand {
    static let command = Command(
        name: "fmt", summary: "lay out rules files in one way",
        details: """
            Lays out the named rules files and folders, or all of the configuration's bots folder: two spaces a level, a blank line \
            between rules, the keys of a rule in the usual order, quotes where other YAML readers would see a number or \
            a truth value, single quotes around regular expressions. Comments stay, and so does the meaning. A file with \
            mistakes is shown and not touched. "-" formats standard input to standard output.
            """,
        options: [
            .config,
            .init(name: "check", summary: "change nothing; list what would change, and end with 1"),
        ],
        operands: .init(names: "FILES", count: 0...Int.max)
    ) { arguments in
        if arguments.operands == ["-"] { return formatInput(isCheck: arguments.has("check")) }
        let files: [String]
        if arguments.operands.isEmpty {
            do {
                let config = try ConfigReader.read(
                    file: arguments["config"] ?? Config.usualFile, environment: Environment.current,
                    secrets: .unneeded)
                files = try Bots.files(in: config.botsFolder)
            } catch {
                Terminal.print(findings: "\(error)")
                return error is BotsError ? .findings : .configuration
            }
        } else {
            // A folder stands for the rules files in it.
            files = arguments.operands.flatMap { (try? Bots.files(in: $0)) ?? [$0] }
        }
        return format(files, isCheck: arguments.has("check"))
    }

    private static func format(_ files: [String], isCheck: Bool) -> ExitCode {
        var result = ExitCode.fine
        for file in files {
            guard let bytes = (try? Data(contentsOf: URL(filePath: file))).map(Array.init) else {
                Terminal.complain("\(file): error: the file cannot be read\n")
                result = .findings
                continue
            }
            switch BotFormatter.format(BotSource(name: file, bytes: bytes)) {
            case .broken(let errors):
                Terminal.print(findings: errors.map { $0.report + "\n" }.joined())
                result = .findings
            case .formatted(let formatted) where formatted == bytes: break
            case .formatted(let formatted):
                print(file)
                if isCheck {
                    result = .findings
                } else if let problem = replace(file, with: formatted) {
                    Terminal.complain("\(file): error: cannot be written: \(problem)\n")
                    result = .findings
                }
            }
        }
        return result
    }

    private static func formatInput(isCheck: Bool) -> ExitCode {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = Glibc.read(STDIN_FILENO, &piece, piece.count), count > 0 {
            bytes += piece[..<count]
        }
        switch BotFormatter.format(BotSource(name: "-", bytes: bytes)) {
        case .broken(let errors):
            Terminal.complain(errors.map { $0.report + "\n" }.joined())
            return .findings
        case .formatted(let formatted):
            guard isCheck else {
                print(String(decoding: formatted, as: UTF8.self), terminator: "")
                return .fine
            }
            return formatted == bytes ? .fine : .findings
        }
    }

    /// Whoever reads meanwhile, and whatever fails, there is the old file or the new one. What went wrong comes back.
    private static func replace(_ file: String, with bytes: [UInt8]) -> String? {
        // What a link names is replaced, not the link.
        guard let resolved = realpath(file, nil) else { return String(cString: strerror(errno)) }
        defer { free(resolved) }
        let target = String(cString: resolved)
        var status = stat()
        guard stat(target, &status) == 0 else { return String(cString: strerror(errno)) }
        var template = Array("\(target).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        var isWritten = fchmod(descriptor, status.st_mode & 0o7777) == 0
        // Another owner's file stays theirs where that may be done.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        var rest = bytes[...]
        while isWritten, !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else { isWritten = errno == EINTR }
        }
        isWritten = isWritten && fsync(descriptor) == 0
        let problem = errno
        close(descriptor)
        guard isWritten, rename(template, target) == 0 else {
            let reason = String(cString: strerror(isWritten ? errno : problem))
            unlink(template)
            return reason
        }
        return nil
    }
}
