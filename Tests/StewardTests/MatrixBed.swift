import Foundation
import JSON
import Synapse

@testable import steward

/// Rooms on the homeserver with an account for steward in them, who may keep order there, and a folder of its own.
struct MatrixBed {
    let folder: URL
    let synapse: Synapse
    /// Made the rooms.
    let ana: MatrixPerson
    let bot: MatrixPerson
    let lobby: String
    let support: String
    let staff: String

    static func run(version: Int? = nil, _ body: (MatrixBed) async throws -> Void) async throws {
        let synapse = try await Synapse.shared()
        let folder = FileManager.default.temporaryDirectory.appending(path: "steward-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "bots"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (ana, bot) = (try await synapse.person("ana"), try await synapse.person("steward"))
        let lobby = try await ana.createRoom("Lobby", version: version)
        let support = try await ana.createRoom("Support", version: version)
        let staff = try await ana.createRoom("Staff", version: version)
        for room in [lobby, support, staff] {
            try await bot.join(room)
            try await ana.setPower(100, of: bot.id, in: room)
        }
        try await body(
            MatrixBed(
                folder: folder, synapse: synapse, ana: ana, bot: bot, lobby: lobby, support: support,
                staff: staff))
    }

    /// Somebody new, in the lobby.
    func person(_ name: String) async throws -> MatrixPerson {
        let person = try await synapse.person(name)
        try await person.join(lobby)
        return person
    }

    /// `more` are keys of the account, each in a line of its own.
    func config(_ more: String = "") -> String {
        """
        accounts:
          matrix:
            service: matrix
            homeserver: "\(synapse.homeserver)"
            login: {user: "\(bot.name)", password: "${env:MATRIX_PASSWORD}"}
            \(more)
        storage: {file: steward.db}
        report_to: staff
        channels:
          lobby: {matrix: "\(lobby)"}
          support: {matrix: "\(support)"}
          staff: {matrix: "\(staff)"}
        bots: bots
        """
    }

    func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: file))
    }

    /// The files that steward brings along, instead of one of the test's own.
    func useShippedBots() throws {
        let bots = folder.appending(path: "bots")
        try FileManager.default.removeItem(at: bots)
        let shipped = Architecture.sources.deletingLastPathComponent().appending(path: "bots")
        try FileManager.default.copyItem(at: shipped, to: bots)
    }

    /// Starts a steward as the program does, and waits until it is ready.
    func steward(_ text: String? = nil, bot rules: String? = nil) async throws -> RunningSteward {
        try write(text ?? config(), to: "config.yaml")
        if let rules { try write(rules, to: "bots/bot.yaml") }
        let file = folder.appending(path: "config.yaml").path()
        let environment = ["MATRIX_PASSWORD": bot.password]
        let config = try ConfigReader.read(file: file, environment: environment)
        let steward = try RunningSteward(
            file: file, config: config, bots: try Bots.load(config), environment: environment)
        while !steward.transcript.lines.contains(where: { $0.contains("ready: ") }) {
            do {
                try await Task.sleep(for: .milliseconds(20))
            } catch {
                throw SynapseError("steward does not get ready:\n\(steward.transcript.lines)")
            }
        }
        return steward
    }
}

extension MatrixPerson {
    /// Waits until one of the texts in a room has that in it.
    func hears(_ text: String, in room: String) async throws {
        try await texts(in: room) { $0.contains { $0.contains(text) } }
    }

    /// Waits until none has.
    func losesSight(of text: String, in room: String) async throws {
        try await texts(in: room) { !$0.contains { $0.contains(text) } }
    }

    /// Waits until somebody's membership is so.
    func waits(until user: String, is membership: String, in room: String) async throws {
        try await event(in: room) { event in
            event["type"] == "m.room.member" && event["state_key"]?.string == user
                && event["content"]?["membership"]?.string == membership
        }
    }
}
