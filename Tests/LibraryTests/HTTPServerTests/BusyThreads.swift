import Glibc

/// The names of the server's threads that never rest. Other tests may keep a thread busy for a while, so one is busy
/// only if it has been so in each of many looks.
func busyThreads() async -> [String] {
    var suspects = threads()
    for _ in 0..<50 where !suspects.isEmpty {
        try? await Task.sleep(for: .milliseconds(100))
        let now = threads()
        suspects = suspects.filter { id, before in (now[id]?.ticks ?? 0) > before.ticks }
            .reduce(into: [:]) { $0[$1.key] = now[$1.key] }
    }
    return suspects.values.map(\.name).sorted()
}

/// Names and used processor ticks of the threads that move bytes.
private func threads() -> [String: (name: String, ticks: Int)] {
    var found: [String: (name: String, ticks: Int)] = [:]
    guard let folder = opendir("/proc/self/task") else { return found }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
        let id = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let file = fopen("/proc/self/task/\(id)/stat", "r") else { continue }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = fread(&buffer, 1, buffer.count, file)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")") else { continue }
        let name = String(text[text.index(after: open)..<close])
        let fields = text[text.index(after: close)...].split(separator: " ")
        guard name == "sockets" || name.hasPrefix("MHD"), fields.count > 12, let user = Int(fields[11]),
            let system = Int(fields[12])
        else { continue }
        found[id] = (name, user + system)
    }
    return found
}
