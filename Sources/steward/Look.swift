internal import Chat
internal import Engine
internal import FoundationEssentials
internal import Rules
internal import Zones

/// What commands that look into the store have in common.
enum Look {
    /// Reads the configuration and hands over the store's path; complains where either is missing.
    static func intoStore(
        of command: String, _ arguments: Arguments,
        _ body: (Config, String) async throws -> ExitCode
    ) async -> ExitCode {
        guard let config = config(arguments) else { return .configuration }
        do {
            guard let store = config.store.map(config.statePath) else {
                throw SettingsMistake("nothing is kept - write storage: {file: state/steward.db}")
            }
            guard FileManager.default.fileExists(atPath: store) else {
                throw SettingsMistake("\(store): there is no store yet")
            }
            return try await body(config, store)
        } catch let error as UsageMistake {
            Terminal.complain("steward \(command): \(error)\n")
            return .usage
        } catch {
            Terminal.complain("steward \(command): \(error)\n")
            return .findings
        }
    }

    /// The configuration, without its secrets; says what is wrong with it.
    static func config(_ arguments: Arguments) -> Config? {
        do {
            return try ConfigReader.read(
                file: arguments["config"] ?? Config.usualFile, environment: Environment.current,
                secrets: .unneeded)
        } catch {
            Terminal.print(findings: "\(error)")
            return nil
        }
    }

    /// The moment that `--since` means: a duration back from now, or a moment.
    static func since(_ arguments: Arguments) throws -> Timestamp {
        guard let text = arguments["since"] else { return Timestamp(milliseconds: 0) }
        if let duration = try? Duration(text: text) { return .now - duration }
        guard let moment = try? ISO8601.moment(text) else {
            throw UsageMistake("\"\(text)\" is no time - try 7d, or 2026-06-15T12:00:00Z")
        }
        return Timestamp(milliseconds: moment)
    }

    /// `2026-06-15 12:00:00Z`
    static func moment(_ time: Timestamp) -> String {
        let text = ISO8601.text(time.milliseconds)
        return String(text.prefix(19)).replacing("T", with: " ") + "Z"
    }

    /// What people wrote, without what would move the terminal's cursor.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    scalar.properties.generalCategory == .control
                        || scalar.properties.generalCategory == .format
                        ? (scalar == "\u{200D}" ? scalar : " ") : scalar
                }))
    }
}

/// The command line says something that cannot be meant.
struct UsageMistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
