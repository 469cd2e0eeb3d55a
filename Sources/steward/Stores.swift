internal import Chat
internal import ChatServer
internal import Engine
internal import FoundationEssentials
internal import Glibc

/// Opens what keeps steward's state, from what the configuration says of it.
enum Stores {
    /// The journal; in memory when the configuration names no file.
    static func journal(_ config: Config, _ log: Log) async throws -> any Journal {
        guard let store = config.store else {
            log.warning("there is no \"storage:\": a restart forgets what was done")
            return MemoryJournal()
        }
        let path = try prepared(config.statePath(store))
        do {
            return try await SQLiteJournal.open(path)
        } catch {
            let first =
                switch error {
                // Starting again cannot help, which the exit status says.
                case .damaged: throw error
                case .unusable: "bring back a copy that is whole"
                case .tooNew: "run the steward that wrote it"
                default: "make room there"
                }
            let words =
                "the store cannot be opened: \(error) - \(first), or name another place under \"storage.file\""
            if case .tooNew = error { throw JournalError.tooNew(words) }
            throw SettingsMistake(words)
        }
    }

    /// What the `server:` block means.
    static func settings(of block: Config.ServerBlock, _ config: Config) throws -> ServerSettings {
        var settings = try ServerCommand.settings(listen: block.listen ?? ServerCommand.usualAddress)
        settings.state = try block.state.map { try prepared(config.statePath($0)) }
        settings.keep = block.keep ?? settings.keep
        settings.admins = Set(block.admins ?? [])
        settings.keptBack = config.namesWithRoles
        settings.privateChannels = Set(block.private ?? [])
        settings.secret = block.secret?.secret.reveal()
        settings.sendbird.application = block.app
        settings.sendbird.apiToken = block.api_token?.secret.reveal()
        settings.faultsOverHTTP = block.faults ?? false
        return settings
    }

    /// The path, with its folder made and looked at: what SQLite says of it helps nobody.
    static func prepared(_ path: String) throws -> String {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw SettingsMistake("\(folder): the folder for the store cannot be made - \(wayOut)")
        }
        guard access(folder, W_OK | X_OK) == 0 else {
            throw SettingsMistake("\(folder): the folder of the store cannot be written - \(wayOut)")
        }
        guard access(path, F_OK) != 0 || access(path, R_OK | W_OK) == 0 else {
            throw SettingsMistake("\(path): the store cannot be read and written - \(wayOut)")
        }
        return path
    }

    private static var wayOut: String {
        "let user \(getuid()) write there, or name another place in the configuration"
    }
}
