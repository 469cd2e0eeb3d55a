internal import FoundationEssentials
internal import Glibc

/// The configuration and the files of the bots as they are on the disk, to see when one changes.
struct WatchedFiles: Equatable {
    private struct Look: Equatable {
        /// The time of the last change, as the system has it: its members belong to another module in a release build.
        var changed: [UInt8]
        var size: Int64
        var number: UInt64
    }

    private var looks: [String: Look] = [:]

    /// `config` is the configuration's file; the folder of the bots is looked up in it while it can be read.
    init(config: String) {
        add(config)
        let folder = config.lastIndex(of: "/").map { String(config[...$0]) } ?? ""
        let read = try? ConfigReader.read(
            file: config, environment: Environment.current,
            secrets: .unneeded)
        let bots = read?.botsFolder ?? folder + "bots"
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: bots)) ?? []
        where !name.hasSuffix("~") {
            add("\(bots)/\(name)")
        }
    }

    private mutating func add(_ file: String) {
        var status = stat()
        guard stat(file, &status) == 0 else { return }
        looks[file] = Look(
            changed: withUnsafeBytes(of: status.st_mtim) { Array($0) }, size: Int64(status.st_size),
            number: UInt64(status.st_ino))
    }
}
