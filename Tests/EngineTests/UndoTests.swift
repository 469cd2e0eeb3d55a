import Chat
import ChatTesting
import Testing

@testable import Engine

/// A case that is undone takes back what it brought, and nothing that others did.
@Suite(.timeLimit(.minutes(1))) struct Undo {
    let noon = Timestamp(milliseconds: 1_781_524_800_000)

    /// `ban hal 300` of a moderator is a case, and `raid r1 r2` one of each, and locks the channel. `lift hal` and `unlock` are
    /// none. `oops hal` bans and undoes the case before anything is done.
    private static let moderation = Handler("moderation", .guard) { event, situation in
        guard case .messageAdded(let message) = event.kind, let place = event.place else { return .nothing }
        let words = message.text.split(separator: " ").map(String.init)
        var decision = Decision()
        switch words[0] {
        case "undo": decision.undone = [words[1]]
        case "lift":
            decision.actions = [
                ChatAction(.unmute(user: words[1]), in: place, path: "do[0]"),
                ChatAction(.unban(user: words[1]), in: place, path: "do[1]"),
            ]
        case "ping": decision.actions = [ChatAction(.send(Outgoing("pong")), in: place, path: "do[0]")]
        case "unlock": decision.actions = [ChatAction(.unlock, in: place, path: "do[0]")]
        case "mute", "ban", "kick", "raid", "oops":
            let names = words.dropFirst().filter { Int64($0) == nil }
            let until = words.compactMap { Int64($0) }.first.map { situation.now + .seconds($0) }
            for name in names {
                let path = "do[\(decision.actions.count)]"
                let verb: ChatAction.Verb =
                    switch words[0] {
                    case "mute": .mute(user: name, until: until, reason: nil)
                    case "kick": .removeMember(user: name)
                    default: .ban(user: name, until: until, reason: nil)
                    }
                decision.actions.append(ChatAction(verb, in: place, path: path))
                decision.charges.append(
                    Decision.Charge(
                        by: "moderation", user: event.realm.user(name),
                        moderator: words[0] == "raid" ? nil : message.author.user))
            }
            if words[0] == "oops" { decision.undone = [situation.memory.caseName()] }
            if words[0] == "raid" {
                var lock = ChatAction(.lock(until: nil, reason: nil), in: place, path: "lock")
                lock.spares = ChatAction.Spared(users: [message.author.user.text])
                decision.actions.append(lock)
            }
        default: break
        }
        return decision
    }

    private struct Scene {
        let chat = FakeChat()
        let journal: SQLiteJournal

        func says(_ text: String, answers count: Int = 1) async {
            let before = chat.performed.count
            chat.say(text, as: "mod", in: "lobby")
            await chat.wait { $0.performed.count >= before + count }
            // What goes out after it goes when it is known how it ended.
            chat.say("ping", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count > before + count }
        }

        /// Whoever was put into the channel, in order.
        var added: [String] {
            chat.performed.compactMap { if case .addMember(let user) = $0.verb { user } else { nil } }
        }

        /// What is said once a case is undone.
        func undoes(_ name: String) async -> String {
            let start = "\(name): "
            let isAnswer = { @Sendable (text: String) in text.hasPrefix(start) }
            chat.say("undo \(name)", as: "mod", in: "lobby")
            await chat.wait { $0.messages(in: "lobby").contains { isAnswer($0.text) } }
            return String(
                (chat.messages(in: "lobby").last { isAnswer($0.text) }?.text ?? "").dropFirst(start.count))
        }

        func hold(_ kind: Punishment.Kind, _ user: String) async throws -> Punishment? {
            let key = Punishment.key(kind, of: chat.realm.user(user), in: chat.realm.channel("lobby"))
            return try await hold(key)
        }

        func hold(_ key: MemoryKey) async throws -> Punishment? {
            let memory = Memory(isComplete: false)
            _ = memory.value(of: key)
            let subjects = memory.takeMissing()
            let rows = try await journal.rows(of: .memory, keys: subjects.map(\.rowKey))
            memory.insert(rows, for: subjects)
            return Punishment(memory.value(of: key))
        }
    }

    private func scene(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        let scene = Scene(journal: try await SQLiteJournal.open(":memory:"))
        try await Cases.rig([Self.moderation], journal: scene.journal, chat: scene.chat).runReady { _ in
            try await body(scene)
        }
    }

    @Test func `a ban of somebody who was never there is lifted, and adds nobody`() async throws {
        try await scene { scene async throws in
            await scene.says("ban ghost")
            #expect(await scene.undoes("C1") == "ghost unbanned")
            await scene.says("kick ghost")
            #expect(await scene.undoes("C2") == "ghost was not in the channel")
            #expect(scene.added == [])
            #expect(try await Cases.cases(in: scene.journal)["C1"]?.deeds.map(\.action) == ["ban", "unban"])
        }
    }

    @Test(arguments: ["ban", "kick"])
    func `whom it took out of the channel is put back, once`(_ verb: String) async throws {
        try await scene { scene async throws in
            scene.chat.join("hal", "lobby")
            await scene.says("\(verb) hal")
            #expect(await scene.undoes("C1") == (verb == "ban" ? "hal unbanned" : "hal brought back"))
            await scene.chat.wait { !$0.performed.allSatisfy { $0.verb != .addMember(user: "hal") } }
            // Who went by themselves meanwhile stays out.
            scene.chat.leave("hal", "lobby")
            await scene.says("ban hal")
            #expect(await scene.undoes("C2") == "hal unbanned")
            #expect(scene.added == ["hal"])
        }
    }

    @Test func `where nobody knows whether they were in, nobody is added`() async throws {
        try await scene { scene async throws in
            scene.chat.join("hal", "lobby")
            scene.chat.script([.failsAfterwards(.unreachable("cut"))])
            await scene.says("ban hal", answers: 2)
            let words = await scene.undoes("C1")
            #expect(
                words
                    == "hal unbanned; not restored: hal in the channel, as nobody knows whether they were in it"
            )
            #expect(scene.added == [])
        }
    }

    @Test(arguments: ["hal", "ghost"])
    func `undone before it is done, it brings back who turns out to have been in`(_ user: String) async throws
    {
        try await scene { scene async throws in
            scene.chat.join("hal", "lobby")
            await scene.says("oops \(user)", answers: 2)
            let added = user == "hal" ? ["hal"] : []
            await scene.chat.wait { _ in scene.added.count >= added.count }
            #expect(scene.added == added)
            let deeds = try await Cases.cases(in: scene.journal)["C1"]?.deeds.map(\.action)
            #expect(deeds == ["ban", "unban"] + added.map { _ in "add" })
        }
    }

    @Test func `who is banned by three cases stays banned when the first is undone`() async throws {
        try await scene { scene async throws in
            scene.chat.join("hal", "lobby")
            await scene.says("ban hal 60")
            await scene.says("ban hal 300")
            await scene.says("ban hal")
            #expect(await scene.undoes("C1") == "hal is still banned by C3, C2")
            #expect(try await scene.hold(.ban, "hal")?.until == nil)
            #expect(try await scene.hold(.ban, "hal") != nil)
            // What only the last one brought is the time after the second's end.
            #expect(await scene.undoes("C3") == "hal is still banned by C2")
            let second = try #require(try await Cases.cases(in: scene.journal)["C2"]?.deeds.first?.until)
            #expect(try await scene.hold(.ban, "hal")?.until == second)
            #expect(await scene.undoes("C2") == "hal unbanned")
            #expect(try await scene.hold(.ban, "hal") == nil)
            // The first took them out, and the others kept them out when it was undone.
            await scene.chat.wait { _ in !scene.added.isEmpty }
            #expect(scene.added == ["hal"])
        }
    }

    @Test func `a shorter mute that is undone leaves the longer one`() async throws {
        try await scene { scene async throws in
            await scene.says("mute zed 3600", answers: 0)
            await scene.says("mute zed 60", answers: 0)
            #expect(await scene.undoes("C2") == "zed is still muted by C1")
            #expect(try await scene.hold(.mute, "zed") != nil)
            #expect(await scene.undoes("C1") == "zed unmuted")
            #expect(try await scene.hold(.mute, "zed") == nil)
        }
    }

    @Test func `what a moderator lifted by hand is not put back when a later case is undone`() async throws {
        try await scene { scene async throws in
            await scene.says("mute zed 3600", answers: 0)
            await scene.says("lift zed", answers: 0)
            await scene.says("mute zed 7200", answers: 0)
            #expect(await scene.undoes("C2") == "zed unmuted")
            #expect(try await scene.hold(.mute, "zed") == nil)
        }
    }

    @Test func `who was kicked and is banned by another case is not brought back`() async throws {
        try await scene { scene async throws in
            for user in ["hal", "ben"] { scene.chat.join(user, "lobby") }
            await scene.says("kick hal")
            await scene.says("ban hal 300")
            #expect(await scene.undoes("C1") == "hal is still banned by C2")
            await scene.says("kick ben")
            await scene.says("kick ben")
            #expect(await scene.undoes("C3") == "ben is still out by C4")
            #expect(await scene.undoes("C4") == "ben brought back")
        }
    }

    @Test func `one raider's case that is undone leaves the channel locked and names no moderator`()
        async throws
    {
        try await scene { scene async throws in
            scene.chat.join("r2", "lobby")
            await scene.says("raid r1 r2", answers: 2)
            await scene.says("ban ben")
            let lock = Punishment.key(.lock, in: scene.chat.realm.channel("lobby"))
            #expect(
                await scene.undoes("C2")
                    == "r2 unbanned, lobby stays locked: \"unlock\" opens it")
            #expect(try await scene.hold(lock) != nil)
            let cases = try await Cases.cases(in: scene.journal)
            #expect(cases["C1"]?.deeds.map(\.action) == ["ban"])
            #expect(cases["C2"]?.deeds.map(\.action) == ["ban", "unban", "add"])
            #expect(cases["C1"]?.moderator == nil && cases["C2"]?.moderator == nil)
            #expect(cases["C3"]?.moderator == "mod")
            await scene.says("unlock", answers: 0)
            #expect(await scene.undoes("C1") == "r1 unbanned")
        }
    }
}
