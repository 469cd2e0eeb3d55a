internal import FoundationEssentials
internal import Glibc

/// A folder for what a figure writes, beside the program, so that it is on the disk and not in memory.
struct Workspace: Sendable {
    /// Where this program is.
    static let programs = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count - 1))
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    static let root = "\(programs)/bench-\(getpid())"

    let path: String

    /// Makes a new, empty folder.
    init(_ name: String) throws {
        path = "\(Self.root)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func write(_ text: String, to name: String) throws {
        let file = "\(path)/\(name)"
        let folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file))
    }

    static func removeAll() {
        try? FileManager.default.removeItem(atPath: root)
    }
}
