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

    @Test
    func
        `a second steward with the same chat server of its own stands by, too, and opens it when it takes over`()
        async throws
    {
        try await TestBed.run { bed, _ in
            func config(port: Substring) -> String {
                bed.usualConfig + "\nserver: {listen: \"127.0.0.1:\(port)\", state: chat-server.db}\n"
            }
            let first = try bed.steward(config(port: "0"))
            await first.transcript.wait(for: "ready: ")
            let opened = first.transcript.lines.compactMap { $0.wholeMatch(of: /.* is open at .*:([0-9]+)/) }
            let port = try #require(opened.first?.1)
            let second = try bed.steward(config(port: port))
            await second.transcript.wait(for: "works on this store already; standing by")
            #expect(!second.transcript.lines.contains { $0.contains("is open at") })
            #expect(try await first.stop() == .fine)
            await second.transcript.wait(for: "the built-in chat server is open at http://127.0.0.1:\(port)")
            await second.transcript.wait(for: "logged in")
            #expect(try await second.stop() == .fine)
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
            await steward.transcript.wait(for: "loaded 1 rule anew")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Good day, ana.", in: general)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `rules of which a test does not hold leave the old ones at work, and the log shows why`()
        async throws
    {
        try await TestBed.run { bed, general in
            let steward = try bed.steward()
            await steward.transcript.wait(for: "ready: ")
            let test = """

                    tests:
                      - {name: politeness, steps: [{say: hello, as: ana, expect: {reply: "Good day, ana"}}]}
                """
            try bed.write(
                TestBed.bot.replacing("Hello, ", with: "Hey, ") + test, to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "the old rules stay")
            let why = steward.transcript.lines.first { $0.contains("the old rules stay") }
            #expect(why?.contains("error: test \"politeness\" of \"greeting\", step 1") == true)
            #expect(why?.contains("Hey, ana") == true)
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            try bed.write(
                TestBed.bot.replacing("Hello, ", with: "Good day, ") + test, to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "loaded 1 rule anew")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Good day, ana.", in: general)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test
    func `a reload says which rules are in the files no more, and one that was renamed is not among them`()
        async throws
    {
        let three = """
            version: 1
            rules:
              greeting: {when: messageAdded, if: {text: hello}, do: [{reply: "Hello, {{ user.name }}."}]}
              refund: {when: messageAdded, if: {text: refund}, do: [{reply: x}]}
              hours: {when: messageAdded, if: {text: hours}, do: [{reply: x}]}

            """
        try await TestBed.run { bed, _ in
            let steward = try bed.steward(bot: three)
            await steward.transcript.wait(for: "ready: ")
            // The second rule slid into the first by its indentation, which is a mistake of its own.
            try bed.write(three.replacing("  refund:", with: "    refund:"), to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "the old rules stay")
            let one = three.split(separator: "\n").dropLast(2).joined(separator: "\n") + "\n"
            try bed.write(one, to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "not in the files any more: 2 rules, \"refund\", \"hours\"")
            await steward.transcript.wait(for: "loaded 1 rule anew")
            try bed.write(
                one.replacing("greeting: {", with: "hello: {was: greeting, "), to: "bots/bot.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "loaded 1 rule anew", times: 2)
            #expect(try await steward.stop() == .fine)
            #expect(steward.transcript.lines.count { $0.contains("any more") } == 1)
        }
    }

    @Test(arguments: [
        "", "{", "rules: [", "version: 1\nrules:\n\tgreeting: {}\n",
        "version: 1\nrules: {a: {when: x, do: [y]}}",
        "version: 2\nrules: {}", "\u{FEFF}version", "version: 1\nrules:\n  a: *b\n", "nonsense", "[]",
        "- a\n- b", "\0",
        String(repeating: "[", count: 100_000), String(repeating: "a: ", count: 10_000),
    ])
    func `no file of rules stops a running steward or changes what it does`(_ text: String) async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward()
            await steward.transcript.wait(for: "ready: ")
            for times in 1...2 {
                try bed.write(text, to: "bots/bot.yaml")
                steward.signal(.reload)
                // Two signals at once may be one.
                await steward.transcript.wait(for: "the old rules stay", times: times)
            }
            try bed.write("accounts: [", to: "config.yaml")
            steward.signal(.reload)
            await steward.transcript.wait(for: "the old rules stay", times: 3)
            try bed.write(bed.usualConfig, to: "config.yaml")
            try bed.write(TestBed.bot.replacing("Hello, ", with: "Good day, "), to: "bots/bot.yaml")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            steward.signal(.reload)
            await steward.transcript.wait(for: "loaded 1 rule anew")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Good day, ana.", in: general)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `an account that is required and fails is named, and the others go on`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(
                """
                accounts:
                  good: {service: twilio, identity: steward, endpoint: "\(bed.endpoint)", token: {url: "\(bed.tokens)"}, join: [general]}
                \(signing(bed))
                require: [signed]
                """, environment: ["KEY": "wrong"])
            await steward.transcript.wait(for: "giving up until somebody acts")
            await steward.transcript.wait(for: "logged in, all channels known")
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
            #expect(try await steward.stop() == .fine)
            #expect(!steward.transcript.lines.contains { $0.hasPrefix("ready") })
            #expect(steward.transcript.lines.contains { $0.contains("account=signed") })
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

    @Test func `systemd sees why the old rules stay until a reload works`() async throws {
        try await TestBed.run { bed, _ in
            let listener = SystemdNotices.Listener()
            let steward = try bed.steward(environment: ["NOTIFY_SOCKET": listener.path])
            await steward.transcript.wait(for: "ready: ")
            var notices: [String] = []
            func next(_ text: String) {
                repeat { notices.append(listener.next()) } while !notices[notices.count - 1].contains(text)
            }
            next("READY=1")
            #expect(notices.last == "READY=1\nSTATUS=twilio: up")
            try bed.write(TestBed.bot.replacing("reply", with: "replly"), to: "bots/bot.yaml")
            steward.signal(.reload)
            next("RELOADING=1")
            #expect(notices.last?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
            next("READY=1")
            #expect(notices.last?.hasPrefix("READY=1\nSTATUS=not reloaded, the old rules stay: ") == true)
            #expect(notices.last?.contains("bots/bot.yaml:7:9: error: unknown action \"replly\"") == true)
            #expect(notices.last?.hasSuffix("; twilio: up") == true)
            try bed.write(TestBed.bot, to: "bots/bot.yaml")
            steward.signal(.reload)
            next("READY=1")
            #expect(notices.last == "READY=1\nSTATUS=twilio: up")
            #expect(try await steward.stop() == .fine)
        }
    }

    /// An account that signs its tokens with a key that the server does not know.
    private func signing(_ bed: TestBed) -> String {
        """
          signed: {service: twilio, identity: other, endpoint: "\(bed.endpoint)", token: {sign: {account: AC1, key: SK1, secret: "${env:KEY}", service: IS1}}}
        """
    }

    @Test func `when no account can ever log in, steward ends and is not to be started again`() async throws {
        try await TestBed.run { bed, _ in
            let steward = try bed.steward("accounts:\n" + signing(bed), environment: ["KEY": "wrong"])
            #expect(try await steward.end() == .configuration)
            #expect(steward.transcript.lines.contains { $0.hasPrefix("no account can log in") })
        }
    }

    @Test func `an account that failed for good is tried again at the signal, and the other stays`()
        async throws
    {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(
                """
                accounts:
                  good: {service: twilio, identity: steward, endpoint: "\(bed.endpoint)", token: {url: "\(bed.tokens)"}, join: [general]}
                \(signing(bed))
                require: [good]
                """, environment: ["KEY": "wrong"])
            await steward.transcript.wait(for: "ready: good: up")
            await steward.transcript.wait(for: "giving up until somebody acts")
            steward.signal(.reload)
            await steward.transcript.wait(for: "signed is tried again")
            await steward.transcript.wait(for: "giving up until somebody acts", times: 2)
            try await bed.server.post("hello", in: general, as: "ana")
            await bed.wait(for: "Hello, ana.", in: general)
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
