internal import Glibc

/// The names in the system's time zone data.
package enum ZoneNames {
    /// Where cctz looks, too.
    static var folder: String {
        guard let folder = getenv("TZDIR"), folder.pointee != 0 else { return "/usr/share/zoneinfo" }
        return String(cString: folder)
    }

    /// Sorted; empty if the system has no time zone data.
    package static func all() -> [String] {
        var names: [String] = []
        collect(from: folder, prefix: "", into: &names)
        return names.sorted()
    }

    /// Whether there is data of that name. A name is never a path out of the folder.
    static func exists(_ name: String) -> Bool {
        guard isWellFormed(name) else { return false }
        var found = stat()
        return stat("\(folder)/\(name)", &found) == 0 && found.st_mode & S_IFMT == S_IFREG
    }

    /// The error for a name that is none.
    static func unknown(_ name: String) -> ZoneError {
        let names = all()
        guard !names.isEmpty else {
            return ZoneError("no time zone \"\(name)\": there is none in \(folder)", hint: "install tzdata")
        }
        let near = nearest(to: name, among: names).map { "\"\($0)\"" }
        let choice = [near.dropLast().joined(separator: ", "), near.last].compactMap(\.self)
            .filter { !$0.isEmpty }.joined(separator: " or ")
        return ZoneError(
            "unknown time zone \"\(name)\"",
            hint: near.isEmpty ? "write it as in \"Europe/Oslo\"" : "did you mean \(choice)?")
    }

    /// Upper case first, letters, digits, `_`, `+`, `-` and single slashes: this leaves out `posix/…`, which has all
    /// zones again, `right/…`, which counts leap seconds, and the tables beside the zones.
    private static func isWellFormed(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return name.utf8.count <= 64 && name != "Factory"
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        switch $0 {
                        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"),
                            UInt8(ascii: "-"):
                            true
                        default: false
                        }
                    }
            }
            && parts.first?.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } == true
    }

    private static func collect(from folder: String, prefix: String, into names: inout [String]) {
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let whole = prefix + name
            guard isWellFormed(whole) else { continue }
            var found = stat()
            guard stat("\(folder)/\(name)", &found) == 0 else { continue }
            switch found.st_mode & S_IFMT {
            case S_IFREG: names.append(whole)
            // The data is three folders deep at most; a link that leads back would have no end.
            case S_IFDIR where prefix.utf8.count { $0 == UInt8(ascii: "/") } < 3:
                collect(from: "\(folder)/\(name)", prefix: whole + "/", into: &names)
            default: break
            }
        }
    }
}
