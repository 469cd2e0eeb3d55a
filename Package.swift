// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A part of steward and its tests; `resources` become part of the program, `fixtures` are files beside the tests that
/// they read, not built.
func part(
    _ name: String, uses: [String] = [], testsUse: [String] = [], fixtures: [String] = [],
    resources: [Resource] = []
) -> [Target] {
    [
        .target(
            name: name, dependencies: uses.map { .init(stringLiteral: $0) }, resources: resources,
            swiftSettings: strict),
        .testTarget(
            name: name + "Tests",
            dependencies: ([name, "Seeds"] + uses + testsUse).map { .init(stringLiteral: $0) },
            exclude: fixtures, swiftSettings: strict),
    ]
}

/// A library of Debian's behind a small Swift target: `CName` is the C side, `Name` what the others import.
func library(_ name: String, over c: Target, uses: [String] = [], testsUse: [String] = []) -> [Target] {
    [
        c,
        .target(
            name: name, dependencies: ([c.name] + uses).map { .init(stringLiteral: $0) },
            path: "Sources/Libraries/\(name)", swiftSettings: strict),
        .testTarget(
            name: name + "Tests",
            dependencies: ([name, "Seeds"] + uses + testsUse).map { .init(stringLiteral: $0) },
            path: "Tests/LibraryTests/\(name)Tests", swiftSettings: strict),
    ]
}

/// A C library as it stands: a module map and a header of inline functions.
func c(_ name: String, _ pkgConfig: String, apt: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Libraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A C++ library behind a C header of ours.
func cxx(_ name: String, links: String...) -> Target {
    .target(
        name: name, path: "Sources/Libraries/\(name)", cxxSettings: [.treatAllWarnings(as: .error)],
        linkerSettings: links.map { .linkedLibrary($0) })
}

let libraries: [[Target]] = [
    library(
        "HTTP", over: c("CCurl", "libcurl", apt: "libcurl4-openssl-dev"), uses: ["CSockets"],
        testsUse: ["HTTPServer", "WebSocket", "Peers"]),
    library(
        "HTTPServer", over: c("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"), uses: ["WebSocket"],
        testsUse: ["HTTP", "Peers"]),
    library(
        "WebSocket", over: .target(name: "CSockets", path: "Sources/Libraries/CSockets"),
        uses: ["CCurl", "Crypto"], testsUse: ["HTTPServer", "HTTP", "Peers"]),
    library("YAML", over: c("CYAML", "yaml-0.1", apt: "libyaml-dev")),
    library("JSON", over: cxx("CSimdjson", links: "simdjson")),
    library("SQLite", over: c("CSQLite", "sqlite3", apt: "libsqlite3-dev")),
    library("Matching", over: cxx("CRE2", links: "re2"), uses: ["Unicode"]),
    library("Unicode", over: cxx("CICU", links: "icuuc", "icui18n")),
    library("Zones", over: cxx("CCctz", links: "cctz")),
    library("Crypto", over: c("CCrypto", "libcrypto", apt: "libssl-dev")),
    library("Gzip", over: c("CZlib", "zlib", apt: "zlib1g-dev")),
]

let parts: [[Target]] = [
    part("Chat"),
    part("Rules", uses: ["Chat", "YAML", "Matching", "Unicode", "Zones"], fixtures: ["Fixtures"]),
    part("Engine", uses: ["Chat", "SQLite"], testsUse: ["ChatTesting"]),
    part("Rehearsal", uses: ["Chat", "Rules", "Engine"]),
    part(
        "Services", uses: ["Chat", "HTTP", "WebSocket", "JSON", "Crypto", "Gzip"],
        testsUse: ["ChatServer", "ChatTesting", "HTTPServer", "Synapse"]),
    part("Plugins", uses: ["Chat"], testsUse: ["ChatTesting"]),
    part(
        "ChatServer", uses: ["Chat", "HTTP", "HTTPServer", "WebSocket", "JSON", "Crypto", "SQLite", "Gzip"],
        testsUse: ["Peers"],
        // In the program itself, so that it stays one file.
        resources: ["page.html", "style.css", "icon.svg"].map { .embedInCode("Resources/\($0)") }
            + [
                "words", "line", "hear", "door", "channels", "people", "messages", "keys", "writing",
                "unsent",
                "menus", "begin",
            ].map { .embedInCode("Resources/\($0).js") }
    ),
    part("ChatTesting", uses: ["Chat", "Rehearsal"]),
]

let everything = [
    "Chat", "Rules", "Engine", "Rehearsal", "Services", "Plugins", "ChatServer", "HTTP", "HTTPServer",
    "WebSocket", "YAML", "JSON", "SQLite", "Matching", "Unicode", "Zones", "Crypto",
    "Gzip",
]

let package = Package(
    name: "steward",
    products: [
        .executable(name: "steward", targets: ["steward"]),
        .library(name: "Chat", targets: ["Chat"]),
        .library(name: "ChatTesting", targets: ["ChatTesting"]),
    ],
    targets: (libraries + parts).flatMap(\.self) + [
        .executableTarget(
            name: "steward", dependencies: everything.map { .init(stringLiteral: $0) }, swiftSettings: strict),
        .executableTarget(
            name: "Bench", dependencies: everything.map { .init(stringLiteral: $0) }, swiftSettings: strict),
        // What `make fuzz` feeds with made-up bytes.
        .executableTarget(
            name: "Fuzz", dependencies: ["Chat", "ChatTesting", "Rules", "YAML"], path: "Tests/Fuzz",
            exclude: ["Seeds", "run", "words.dict"], swiftSettings: strict),
        // Random numbers for tests, the same in each run.
        .target(name: "Seeds", path: "Tests/Seeds", swiftSettings: strict),
        // Programs in other languages that tests talk to.
        .target(
            name: "Peers", path: "Tests/LibraryTests/Peers",
            exclude: ["bad_client.py", "certificates", "echo_peer.py"], swiftSettings: strict),
        // A Matrix homeserver that tests start.
        .target(
            name: "Synapse", dependencies: ["HTTP", "JSON", "Peers"], path: "Tests/Support/Synapse",
            exclude: ["README.md", "requirements.txt", "start-synapse"], swiftSettings: strict),
        .testTarget(
            name: "StewardTests",
            dependencies: (["steward", "ChatTesting", "Synapse"] + everything).map {
                .init(stringLiteral: $0)
            },
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
