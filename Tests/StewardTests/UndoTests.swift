import Chat
import ChatServer
import Foundation
import Testing

@testable import Engine
@testable import steward

/// What moderators did by hand is undone on the built-in chat server: whoever was in is in again, and nobody else.
@Suite(.timeLimit(.minutes(2))) struct UndoOnTheBuiltInServer {
    /// What moderators do by hand.
    private static let byHand =
        "version: 1\nrules:\n"
        + [
            ("mute", "mute: {user: \"{{ args.who }}\", for: 1h}"),
            ("kick", "kick: {user: \"{{ args.who }}\"}"),
            ("ban", "ban: {user: \"{{ args.who }}\"}"),
        ].map { name, action in
            """
              \(name):
                when: {command: {name: \(name), args: {who: person}}}
                if: {user: {role: moderator}}
                exempt: none
                do:
                  - \(action)

            """
        }.joined()

    private static func moderator(_ account: String = "twilio") -> String {
        "\nroles: {moderator: {users: [\"\(account):mo\"]}}\n"
    }

    private func undo(_ name: String, _ bed: TestBed) async throws {
        let config = bed.folder.appending(path: "config.yaml").path()
        #expect(await Program.run(["undo", name, "--config", config]) == .fine)
        try await settled(name, bed)
    }

    /// The case of that name, as it is in the store.
    private func found(_ name: String, _ bed: TestBed) async throws -> Case? {
        let journal = try await SQLiteJournal.openForReading(bed.folder.appending(path: "steward.db").path())
        let row = try await journal.rows(of: .cases, keys: [name]).first
        await journal.close()
        return row.flatMap { JSONRow.value(Case.self, from: $0.body) }
    }

    /// Returns once there is such a case and nothing of it is left to do.
    private func settled(_ name: String, _ bed: TestBed) async throws {
        while try await found(name, bed)?.isOpen ?? true { try await Task.sleep(for: .milliseconds(20)) }
    }

    private func isMember(_ user: String, _ bed: TestBed, _ channel: SID) -> Bool {
        bed.server.look { ((try? $0.channel(channel.text, for: "mo"))?.member(of: user)) != nil }
    }

    @Test func `mutes, kicks and bans are undone on the built-in server`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(
                bed.usualConfig + Self.moderator(), bot: Self.byHand)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.join(general, as: "mo")
            try await bed.server.join(general, as: "ben")
            try await bed.server.post("hi all", in: general, as: "ben")
            try await bed.server.post("!mute ben", in: general, as: "mo")
            try await settled("C1", bed)
            try await bed.server.post("anybody?", in: general, as: "ben")
            await bed.server.wait(in: general) { !$0.contains { $0.content.body == "anybody?" } }
            try await undo("C1", bed)
            try await bed.server.post("heard again", in: general, as: "ben")
            for (number, command) in [(2, "!kick ben"), (3, "!ban ben")] {
                try await bed.server.post(command, in: general, as: "mo")
                try await settled("C\(number)", bed)
                #expect(!isMember("ben", bed, general))
                try await undo("C\(number)", bed)
                #expect(isMember("ben", bed, general))
                try await bed.server.post("back \(number)", in: general, as: "ben")
            }
            #expect(try await found("C3", bed)?.undone?.what == "ben unbanned")
            #expect(try await found("C3", bed)?.moderator == "mo")
            #expect(try await steward.stop() == .fine)
            #expect(isMember("ben", bed, general))
            let said = bed.texts(in: general)
            #expect(said.contains("heard again") && said.contains("back 2") && said.contains("back 3"))
        }
    }

    /// One who is in, one who is elsewhere on the server, and a name that nobody has.
    @Test(arguments: ["twilio", "sendbird"])
    func `nobody is put where they never were`(_ service: String) async throws {
        try await TestBed.run { bed, general in
            let other = try await bed.server.channel("other")
            try await bed.server.join(other, as: "zoe")
            for user in ["mo", "ben"] { try await bed.server.join(general, as: user) }
            let config = service == "twilio" ? bed.usualConfig : bed.sendbirdConfig()
            let steward = try bed.steward(config + Self.moderator(service), bot: Self.byHand)
            await steward.transcript.wait(for: "ready: ")
            var number = 0
            for user in ["ghost", "zoe", "ben"] {
                for verb in ["kick", "ban"] {
                    number += 1
                    try await bed.server.post("!\(verb) \(user)", in: general, as: "mo")
                    try await settled("C\(number)", bed)
                    #expect(!isMember(user, bed, general))
                    try await undo("C\(number)", bed)
                    #expect(isMember(user, bed, general) == (user == "ben"), "\(verb) \(user)")
                    let deeds = try #require(try await found("C\(number)", bed)?.deeds.map(\.action))
                    #expect(deeds.contains("add") == (user == "ben"), "\(verb) \(user)")
                }
            }
            #expect(try await steward.stop() == .fine)
            #expect(!isMember("ghost", bed, general) && !isMember("zoe", bed, general))
        }
    }
}
