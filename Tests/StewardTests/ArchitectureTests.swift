import Chat
import Foundation
import Testing

@Suite struct Architecture {
    /// Which part may import which; the package manager does not hold us to it.
    static let mayImport: [String: Set<String>] = [
        "Chat": [],
        "Rules": ["Chat", "YAML", "Matching", "Unicode", "Zones"],
        "Engine": ["Chat", "SQLite"],
        "Rehearsal": ["Chat", "Rules", "Engine"],
        "Services": ["Chat", "HTTP", "WebSocket", "JSON", "Crypto", "Gzip"],
        "Plugins": ["Chat"],
        "ChatServer": ["Chat", "HTTP", "HTTPServer", "WebSocket", "JSON", "Crypto", "SQLite", "Gzip"],
        "ChatTesting": ["Chat", "Rehearsal"],
        "HTTP": ["CCurl", "CSockets"],
        "HTTPServer": ["CMicroHTTPD", "WebSocket"],
        "WebSocket": ["CSockets", "CCurl", "Crypto"],
        "YAML": ["CYAML"],
        "JSON": ["CSimdjson"],
        "SQLite": ["CSQLite"],
        "Matching": ["CRE2", "Unicode"],
        "Unicode": ["CICU"],
        "Zones": ["CCctz"],
        "Crypto": ["CCrypto"],
        "Gzip": ["CZlib"],
    ]

    /// What the toolchain brings.
    static let toolchain: Set<String> = ["Glibc", "Dispatch", "FoundationEssentials", "Synchronization"]

    static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    static func folder(of part: String) -> URL {
        let own = sources.appending(path: part)
        return FileManager.default.fileExists(atPath: own.path())
            ? own : sources.appending(path: "Libraries/\(part)")
    }

    static func swiftFiles(of part: String) -> [URL] {
        let files = FileManager.default.enumerator(at: folder(of: part), includingPropertiesForKeys: nil)
        return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }

    @Test(arguments: mayImport.keys.sorted())
    func `each part imports only what the plan gives it`(_ part: String) throws {
        let files = Self.swiftFiles(of: part)
        #expect(!files.isEmpty)
        let allowed = try #require(Self.mayImport[part]).union(Self.toolchain)
        for file in files {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let keyword = words.firstIndex(of: "import"), keyword < 3, words.count > keyword + 1,
                    words[..<keyword].allSatisfy({
                        ["internal", "package", "public", "private", "@testable"].contains($0)
                    })
                else { continue }
                // `import struct Module.Type` names the module after the kind.
                let named = words[keyword + 1..<words.count].first {
                    !["struct", "class", "enum", "func"].contains($0)
                }
                let module = String(named?.split(separator: ".").first ?? "")
                #expect(allowed.contains(module), "\(file.lastPathComponent) imports \(module)")
            }
        }
    }

    @Test func `public is the promise to plugin authors and stands nowhere else`() throws {
        // ChatTesting hands on what is public in Rehearsal.
        let promised: Set<String> = ["Chat", "ChatTesting", "Rehearsal", "Plugins"]
        for part in Self.mayImport.keys where !promised.contains(part) {
            for file in Self.swiftFiles(of: part) {
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                let open = lines.filter { $0.drop(while: \.isWhitespace).hasPrefix("public ") }
                #expect(open.isEmpty, "\(file.lastPathComponent): \(open.first ?? "")")
            }
        }
    }

    @Test func `make test tries the release program with each suite that starts steward`() throws {
        let root = Self.sources.deletingLastPathComponent()
        let makefile = try String(contentsOf: root.appending(path: "Makefile"), encoding: .utf8)
        let tests = root.appending(path: "Tests/StewardTests")
        var found: [String] = []
        for file in try FileManager.default.contentsOfDirectory(at: tests, includingPropertiesForKeys: nil) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for suite in text.split(separator: /(?m)^@Suite/).dropFirst() {
                let starts = suite.contains(
                    /(?:bed|town)\.steward\(|ChatServerProcess\(state|Program\.(?:file|run)\(/)
                if starts, let name = suite.firstMatch(of: /struct (\w+)/)?.1 { found.append(String(name)) }
            }
        }
        #expect(found.count > 5)
        let listed = makefile.matches(of: /\w+(?=[|)])/).map { String($0.0) }
        for name in found { #expect(listed.contains(name), "\(name)") }
    }

    @Test func `make test installs each Debian package that the build or a test needs`() throws {
        let root = Self.sources.deletingLastPathComponent()
        func text(_ file: String) throws -> String {
            try String(contentsOf: root.appending(path: file), encoding: .utf8)
        }
        let packages = try text("systemd/packages").split(separator: "\n").compactMap {
            $0.firstMatch(of: /^(?:wanted=')?([a-z0-9+.-]+):/)?.1
        }
        let built = try text("Package.swift").matches(of: /apt: "([^"]+)"/).map(\.1)
        #expect(!built.isEmpty)
        for name in built { #expect(packages.contains(name)) }
        #expect(try text("Tests/LibraryTests/Peers/Peer.swift").contains("\"python3\""))
        #expect(packages.contains("python3"))
        #expect(try text("Makefile").contains("\ntest: test-packages "))
    }

    /// What somebody tried out in passing is easily taken along by `git add`.
    @Test func `nothing is tracked at the root but what belongs there`() async throws {
        let root = Self.sources.deletingLastPathComponent().path()
        // A copy without its history has nothing to tell.
        guard FileManager.default.fileExists(atPath: root + "/.git"),
            let listed = try? await ChildProcess.run(
                ["git", "-C", root, "ls-files"], timeout: .seconds(20)), listed.exitCode == 0
        else { return }
        let names = Set(
            String(decoding: listed.output, as: UTF8.self).split(separator: "\n").map {
                String($0.prefix { $0 != "/" })
            })
        #expect(
            names == [
                ".ci", ".gitignore", ".swift-format", "CHANGELOG.md", "LICENSE", "Makefile", "Package.swift",
                "README.md", "Sources", "Tests", "bots", "config.yaml", "systemd",
            ])
    }
}
