import Chat
import ChatServer
import Foundation
import Testing

@testable import steward

@Suite(.timeLimit(.minutes(2))) struct ARunningSteward {
    @Test func `it answers, remembers who was seen, and ends with 0 when told to`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward()
            await steward.transcript.wait(for: "ready: twilio: up")
            try await bed.server.post("hello there", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            try await bed.server.join(general, as: "ben")
            try await bed.server.post("!seen ana", in: general, as: "ben")
            await bed.wait(for: "ana was last seen just now.", in: general)
            #expect(try await steward.stop() == .fine)
            #expect(bed.texts(in: general).filter { $0 == "Hello, ana." }.count == 1)
        }
    }

    @Test
    func `what was said while it was away is answered once, and what it answered is not answered again`()
        async throws
    {
        try await TestBed.run { bed, general in
            let first = try bed.steward()
            await first.transcript.wait(for: "ready: ")
            try await bed.server.post("hello one", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            #expect(try await first.stop() == .fine)
            try await bed.server.post("hello two", in: general, as: "ana")
            let second = try bed.steward()
            await bed.wait(for: "Hello, ana.", count: 2, in: general)
            #expect(try await second.stop() == .fine)
            #expect(bed.texts(in: general) == ["hello one", "Hello, ana.", "hello two", "Hello, ana."])
        }
    }

    @Test func `a second steward on the same store stands by, says so, and takes over`() async throws {
        try await TestBed.run { bed, general in
            let first = try bed.steward()
            await first.transcript.wait(for: "ready: ")
            let second = try bed.steward()
            await second.transcript.wait(for: "works on this store already; standing by")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            #expect(try await first.stop() == .fine)
            await second.transcript.wait(for: "logged in")
            try await bed.server.post("hello again", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", count: 2, in: general)
            #expect(try await second.stop() == .fine)
            #expect(bed.texts(in: general).count == 4)
        }
    }

    @Test func `of two accounts, the one with a wrong token says why and the other works`() async throws {
        try await TestBed.run { bed, general in
            try bed.write("not.a.token", to: "token")
            let steward = try bed.steward(
                """
                accounts:
                  good: {service: twilio, identity: steward, endpoint: "\(bed.endpoint)", token: {url: "\(bed.tokens)"}, join: [general]}
                  wrong: {service: twilio, identity: other, endpoint: "\(bed.endpoint)", token: {file: "\(bed.folder.path())token"}}
                require: [good]
                """)
            await steward.transcript.wait(for: "ready: good: up")
            await steward.transcript.wait(for: "account=wrong")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            #expect(try await steward.stop() == .fine)
            let complaint = steward.transcript.lines.first { $0.contains("account=wrong") }
            #expect(complaint?.contains("token") == true, "\(steward.transcript.lines)")
            #expect(!steward.transcript.lines.contains { $0.contains("not.a.token") })
        }
    }

    @Test func `new rules are taken at the signal, and wrong ones leave the old ones at work`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward()
            await steward.transcript.wait(for: "ready: ")
            try bed.write(TestBed.bot.replacing("reply", with: "replly"), to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "the old rules stay")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            try bed.write(TestBed.bot.replacing("Hello, ", with: "Good day, "), to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "loaded 1 rules anew")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Good day, ana.", in: general)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `a changed account is named and refused at the signal`() async throws {
        try await TestBed.run { bed, _ in
            let steward = try bed.steward()
            await steward.transcript.wait(for: "ready: ")
            try bed.write(
                bed.usualConfig.replacing("[general]", with: "[general, support]"), to: "config.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "nothing is loaded: changes of accounts need a restart")
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `a dry rule says in the log what it matched, and does nothing`() async throws {
        let bot = TestBed.bot.replacing("    when:", with: "    run: dry\n    when:")
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.post("hello", in: general, as: "ana")
            await steward.transcript.wait(for: "greeting (dry) matched, and nothing is done")
            #expect(try await steward.stop() == .fine)
            #expect(bed.texts(in: general) == ["hello"])
        }
    }

    @Test func `a rule whose example does not hold is not loaded`() async throws {
        let bot = TestBed.bot + "\n    examples: {match: [\"good morning\"]}\n"
        try await TestBed.run { bed, _ in
            #expect(throws: BotsError.self) { try bed.steward(bot: bot) }
        }
    }
}
