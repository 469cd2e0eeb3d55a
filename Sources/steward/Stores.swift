internal import Chat
internal import ChatServer
internal import Engine
internal import FoundationEssentials

/// Opens what keeps steward's state, from what the configuration says of it.
enum Stores {
    /// The journal; in memory when the configuration names no file.
    static func journal(_ config: Config, _ log: Log) async throws -> any Journal {
        guard let store = config.store else {
            log.warning("there is no \"storage:\": a restart forgets what was done")
            return MemoryJournal()
        }
        return try await SQLiteJournal.open(try prepared(config.statePath(store)))
    }

    /// What the `server:` block means.
    static func settings(of block: Config.ServerBlock, _ config: Config) throws -> ServerSettings {
        var settings = try ServerCommand.settings(listen: block.listen ?? ServerCommand.usualAddress)
        settings.state = try block.state.map { try prepared(config.statePath($0)) }
        settings.keep = block.keep ?? settings.keep
        settings.admins = Set(block.admins ?? [])
        settings.secret = block.secret?.reveal()
        settings.faultsOverHTTP = block.faults ?? false
        return settings
    }

    /// The path, with its folder made.
    static func prepared(_ path: String) throws -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return path }
        let folder = String(path[..<slash])
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw SettingsMistake(
                "\(folder): the folder for the store cannot be made - may this user write there?")
        }
        return path
    }
}
