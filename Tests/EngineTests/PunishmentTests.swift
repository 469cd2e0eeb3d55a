import Chat
import ChatTesting
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct Punishments {
    let realm = Identities().realm("test")
    let noon = Timestamp(milliseconds: 1_781_524_800_000)
    private let place = Place(account: "test", channel: "lobby")

    private func account(_ actions: Set<String> = ["delete", "kick", "send"]) -> Turn.Account {
        Turn.Account(
            name: "test", own: realm.user("steward"),
            abilities: Abilities(events: [], actions: actions, textLimit: .init(4096, .codePoints)))
    }

    /// Does what the last message says, such as `mute eve 600`; greets who joins.
    static let moderator = Handler("moderator") { event, situation in
        guard let place = event.place else { return .nothing }
        var decision = Decision()
        switch event.kind {
        case .messageAdded(let message) where message.author.user.text == "mod":
            let words = message.text.split(separator: " ").map(String.init)
            let until = words.count > 2 ? Int64(words[2]).map { situation.now + .seconds($0) } : nil
            let verb: ChatAction.Verb? =
                switch words[0] {
                case "mute": .mute(user: words[1], until: until, reason: nil)
                case "unmute": .unmute(user: words[1])
                case "ban": .ban(user: words[1], until: until, reason: nil)
                case "unban": .unban(user: words[1])
                case "kick": .removeMember(user: words[1])
                case "lock": .lock(until: Int64(words[1]).map { situation.now + .seconds($0) }, reason: nil)
                case "unlock": .unlock
                case "slow": .slowMode(Int64(words[1]).map { .seconds($0) })
                default: nil
                }
            if let verb { decision.actions = [ChatAction(verb, in: place)] }
        case .messageAdded: return .reply("answer", to: event)
        case .memberJoined(let member): return .send("welcome \(member.name)", about: event)
        default: break
        }
        return decision
    }

    private func turn(_ memory: Memory = Memory(isComplete: true), directory: Directory = Directory()) -> Turn
    {
        Turn(handlers: HandlerTable([Self.moderator]), directory: directory, memory: memory)
    }

    private func says(
        _ text: String, _ user: String = "eve", after seconds: Int64 = 0, bot: Bool = false
    ) -> ChatEvent {
        var event = ChatEvent.message(
            text, from: user, id: "M\(user)\(seconds)\(text)", realm: realm, at: noon + .seconds(seconds))
        if bot, var message = event.message {
            message.author.isBot = true
            event.kind = .messageAdded(message)
        }
        return event
    }

    private func verbs(_ outcome: Turn.Outcome) -> [ChatAction.Verb] {
        outcome.actions.filter { $0.settled == nil }.map(\.action.verb)
    }

    private func deletion(_ event: ChatEvent) -> ChatAction.Verb {
        .deleteMessage(MessageReference(id: event.id))
    }

    @Test func `what a muted person writes is deleted and not answered, until the mute ends`() {
        var turn = turn()
        let muting = turn.take(says("mute eve 600", "mod"), at: noon, as: account())
        #expect(muting.actions.map(\.settled) == [.done(Receipt(channel: "lobby"))])
        #expect(muting.later.map(\.continuation.due) == [noon + .seconds(600)])
        let before = says("hello", after: 599)
        let removal = turn.take(before, at: noon + .seconds(599), as: account())
        #expect(verbs(removal) == [deletion(before)])
        #expect(removal.removed && removal.held == .mute)
        #expect(removal.actions.map(\.action.by) == ["steward"])
        let after = turn.take(says("hello", after: 600), at: noon + .seconds(600), as: account())
        #expect(after.actions.map(\.action.by) == ["moderator"])
    }

    @Test func `what was written before the end of a mute is deleted although it is read after it`() {
        var turn = turn()
        _ = turn.take(says("mute eve 600", "mod"), at: noon, as: account())
        let late = says("hello", after: 400)
        #expect(verbs(turn.take(late, at: noon + .seconds(900), as: account())) == [deletion(late)])
    }

    @Test func `others write on, and an edit of somebody muted is deleted`() {
        var turn = turn()
        _ = turn.take(says("mute eve", "mod"), at: noon, as: account())
        #expect(turn.take(says("hello", "ana"), at: noon, as: account()).answers == 1)
        var edit = says("hello")
        if let message = edit.message { edit.kind = .messageEdited(message) }
        #expect(verbs(turn.take(edit, at: noon, as: account())) == [deletion(edit)])
    }

    @Test func `unmute lets somebody write at once, and the end that was planned does nothing`() throws {
        var turn = turn()
        let muting = turn.take(says("mute eve 600", "mod"), at: noon, as: account())
        _ = turn.take(says("unmute eve", "mod", after: 1), at: noon, as: account())
        #expect(turn.take(says("hello", after: 2), at: noon, as: account()).removed == false)
        let end = try #require(muting.later.first)
        let outcome = turn.take(resumed(end), at: noon + .seconds(600), as: account())
        #expect(outcome.actions.isEmpty && outcome.notes.isEmpty && !outcome.isOrphan)
    }

    @Test func `a longer mute in place of a shorter one ends at its own time`() throws {
        var turn = turn()
        let first = turn.take(says("mute eve 600", "mod"), at: noon, as: account())
        let second = turn.take(says("mute eve 6000", "mod", after: 1), at: noon, as: account())
        let ends = try [#require(first.later.first), #require(second.later.first)].map { end in
            turn.take(resumed(end), at: end.continuation.due ?? noon, as: account()).notes.map(\.text)
        }
        #expect(ends == [[], ["the mute of eve in test:lobby is over"]])
    }

    @Test func `a shorter mute takes nothing back from a longer one, nor from one for good`() {
        var turn = turn()
        _ = turn.take(says("mute eve 600", "mod"), at: noon, as: account())
        let shorter = turn.take(says("mute eve 60", "mod", after: 1), at: noon, as: account())
        let end = shorter.later.map { turn.take(resumed($0), at: noon + .seconds(60), as: account()) }
        #expect(end.map(\.notes) == [[]])
        #expect(turn.take(says("x", after: 599), at: noon + .seconds(599), as: account()).held == .mute)
        _ = turn.take(says("mute eve", "mod", after: 2), at: noon, as: account())
        _ = turn.take(says("mute eve 60", "mod", after: 3), at: noon, as: account())
        #expect(turn.take(says("y", after: 6000), at: noon + .seconds(6000), as: account()).held == .mute)
    }

    private func resumed(_ pending: PendingContinuation) -> ChatEvent {
        .resumed(
            pending.continuation, .due, named: pending.key, realm: realm,
            at: pending.continuation.due ?? noon
        ) { _ in nil }
    }

    @Test func `whoever is banned is removed, and again at each join before anybody greets them`() {
        var turn = turn()
        let ban = turn.take(says("ban eve 600", "mod"), at: noon, as: account())
        #expect(verbs(ban) == [.ban(user: "eve", until: noon + .seconds(600), reason: nil)])
        let join = turn.take(
            .join("eve", realm: realm, at: noon + .seconds(5)), at: noon + .seconds(5), as: account())
        #expect(verbs(join) == [.removeMember(user: "eve")])
        #expect(join.held == .ban)
        let back = turn.take(
            .join("eve", id: "J2", realm: realm, at: noon + .seconds(600)), at: noon + .seconds(600),
            as: account())
        #expect(back.actions.map(\.action.by) == ["moderator"])
        _ = turn.take(says("ban eve", "mod", after: 700), at: noon + .seconds(700), as: account())
        _ = turn.take(says("unban eve", "mod", after: 701), at: noon + .seconds(701), as: account())
        let unbanned = turn.take(
            .join("eve", id: "J3", realm: realm), at: noon + .seconds(702), as: account())
        #expect(unbanned.held == nil)
    }

    @Test func `in a locked channel only moderators and bots write, until it ends`() {
        let directory = Directory(roles: ["moderator": Directory.Role(users: ["test:mod"])])
        var turn = turn(directory: directory)
        _ = turn.take(says("lock 60", "mod"), at: noon, as: account())
        let talk = says("hello", "ana", after: 1)
        let outcome = turn.take(talk, at: noon, as: account())
        #expect(verbs(outcome) == [deletion(talk)])
        #expect(outcome.held == .lock)
        #expect(turn.take(says("x", "mod", after: 2), at: noon, as: account()).held == nil)
        #expect(turn.take(says("x", "bot", after: 2, bot: true), at: noon, as: account()).held == nil)
        #expect(turn.take(says("y", "ana", after: 60), at: noon + .seconds(60), as: account()).held == nil)
    }

    @Test func `a lock and slow mode leave alone whom their rule does, and the owner`() {
        let directory = Directory(roles: [
            "moderator": Directory.Role(users: ["test:mod"]), "owner": Directory.Role(users: ["test:oda"]),
            "helper": Directory.Role(users: ["test:hal"]),
        ])
        let spares = ChatAction.Spared(roles: ["helper"], users: ["ben", "test:cho", "far:dan"], bots: false)
        let people = ["hal", "oda", "ben", "cho", "dan", "mod", "bot"]
        for verb in [ChatAction.Verb.lock(until: nil, reason: nil), .slowMode(.seconds(60))] {
            let handler = Handler("shut", .guard) { event, _ in
                guard event.message?.text == "shut", let place = event.place else { return .nothing }
                var decision = Decision()
                decision.actions = [ChatAction(verb, in: place)]
                decision.actions[0].spares = spares
                return decision
            }
            var turn = Turn(
                handlers: HandlerTable([handler]), directory: directory, memory: Memory(isComplete: true))
            _ = turn.take(says("shut", "ana"), at: noon, as: account())
            var held: [String] = []
            for user in people {
                // Slow mode lets everybody write once.
                for seconds in [1, 2] as [Int64] {
                    let event = says("x", user, after: seconds, bot: user == "bot")
                    let outcome = turn.take(event, at: noon + .seconds(seconds), as: account())
                    if outcome.held != nil, outcome.removed, held.last != user { held.append(user) }
                }
            }
            #expect(held == ["dan", "mod", "bot"])
        }
    }

    @Test func `a row of an earlier version is read, and no reason can forge another`() {
        let old = Punishment(.text("1781524860000\u{1F}1781524800000\u{1F}\u{1F}hush\u{1F}loud"))
        #expect(
            old == Punishment(until: noon + .seconds(60), at: noon, by: "hush", reason: "loud"))
        var new = Punishment(
            until: noon + .seconds(60), at: noon, by: "hush", reason: "a\u{1F}b\u{1D}c\u{1E}d", event: "IM1",
            spares: ChatAction.Spared(roles: ["helper", "vip"], bots: false))
        let read = Punishment(new.value)
        new.reason = "a b c d"
        #expect(read == new)
        new.isByDeleting = true
        #expect(Punishment(new.value) == new)
    }

    @Test func `unlock opens a channel`() {
        var turn = turn(directory: Directory(roles: ["moderator": Directory.Role(users: ["test:mod"])]))
        _ = turn.take(says("lock -", "mod"), at: noon, as: account())
        #expect(turn.take(says("x", "ana"), at: noon, as: account()).held == .lock)
        _ = turn.take(says("unlock -", "mod", after: 1), at: noon, as: account())
        #expect(turn.take(says("y", "ana", after: 2), at: noon, as: account()).held == nil)
    }

    @Test func `slow mode lets each member write once in its time`() {
        var turn = turn()
        _ = turn.take(says("slow 30", "mod"), at: noon, as: account())
        let held = [(0, "ana"), (10, "ana"), (11, "ben"), (29, "ana"), (30, "ana")].map { seconds, user in
            turn.take(says("x", user, after: Int64(seconds)), at: noon, as: account()).held
        }
        #expect(held == [nil, .slowmode, nil, .slowmode, nil])
        _ = turn.take(says("slow none", "mod", after: 100), at: noon + .seconds(100), as: account())
        #expect(turn.take(says("x", "ana", after: 101), at: noon, as: account()).held == nil)
    }

    @Test func `a service that mutes is told at once, at each rejoin and at the end, and nothing is deleted`()
        throws
    {
        var turn = turn()
        let native = account(["delete", "mute", "unmute", "send"])
        let until = noon + .seconds(600)
        let muting = turn.take(says("mute eve 600", "mod"), at: noon, as: native)
        #expect(verbs(muting) == [.mute(user: "eve", until: until, reason: nil)])
        #expect(turn.take(says("x"), at: noon, as: native).held == nil)
        let join = turn.take(.join("eve", realm: realm), at: noon + .seconds(9), as: native)
        #expect(
            join.actions.map(\.action.verb) == [
                .mute(user: "eve", until: until, reason: nil), .send(Outgoing("welcome eve")),
            ])
        let end = try #require(muting.later.first)
        let outcome = turn.take(resumed(end), at: until, as: native)
        #expect(verbs(outcome) == [.unmute(user: "eve")])
        #expect(outcome.actions.map(\.action.by) == ["moderator"])
    }

    private func turn(denied: Set<String>) -> Turn {
        Turn(
            handlers: HandlerTable([Self.moderator]), directory: Directory(), memory: Memory(isComplete: true)
        ) { _, channel in channel.text == "lobby" ? denied : [] }
    }

    @Test func `where we may not mute but delete, what a muted person writes is deleted`() throws {
        var turn = turn(denied: ["mute", "unmute", "ban"])
        let native = account(["delete", "mute", "unmute", "send"])
        let muting = turn.take(says("mute eve 600", "mod"), at: noon, as: native)
        #expect(muting.actions.map(\.settled) == [.done(Receipt(channel: "lobby"))])
        let word = says("x", after: 599)
        #expect(verbs(turn.take(word, at: noon + .seconds(599), as: native)) == [deletion(word)])
        // There is nothing to tell the service, neither when they come back nor at the end.
        let join = turn.take(.join("eve", realm: realm), at: noon + .seconds(9), as: native)
        #expect(verbs(join) == [.send(Outgoing("welcome eve"))])
        let end = try #require(muting.later.first)
        let outcome = turn.take(resumed(end), at: noon + .seconds(600), as: native)
        #expect(
            verbs(outcome) == [] && outcome.notes.map(\.text) == ["the mute of eve in test:lobby is over"])
        #expect(turn.take(says("y", after: 600), at: noon + .seconds(600), as: native).held == nil)
        let elsewhere = ChatEvent.message(
            "mute eve", from: "mod", in: "office", id: "O", realm: realm, at: noon)
        #expect(
            verbs(turn.take(elsewhere, at: noon, as: native)) == [.mute(user: "eve", until: nil, reason: nil)]
        )
    }

    @Test func `where we may neither mute nor delete, the service says no to the mute`() {
        var turn = turn(denied: ["mute", "unmute", "delete"])
        let native = account(["delete", "mute", "unmute", "send"])
        let muting = turn.take(says("mute eve", "mod"), at: noon, as: native)
        #expect(verbs(muting) == [.mute(user: "eve", until: nil, reason: nil)])
    }

    @Test func `of a mute of the service and one by deleting each ends in its own way`() throws {
        let rights = Locked<Set<String>>([])
        var turn = Turn(
            handlers: HandlerTable([Self.moderator]), directory: Directory(), memory: Memory(isComplete: true)
        ) { _, _ in rights.withLock { $0 } }
        let native = account(["delete", "mute", "unmute", "send"])
        _ = turn.take(says("mute eve 60", "mod"), at: noon, as: native)
        rights.withLock { $0 = ["mute"] }
        let second = turn.take(says("mute eve 600", "mod", after: 1), at: noon, as: native)
        #expect(verbs(second) == [])
        let word = says("x", after: 500)
        #expect(verbs(turn.take(word, at: noon + .seconds(500), as: native)) == [deletion(word)])
        let end = try #require(second.later.first)
        // The first is still with the service.
        #expect(
            verbs(turn.take(resumed(end), at: noon + .seconds(600), as: native)) == [.unmute(user: "eve")])
    }

    @Test func `where the service keeps bans, whoever is let in by somebody stays and may write`() {
        var turn = turn()
        let native = account(["delete", "kick", "ban", "unban", "send"])
        let ban = turn.take(says("ban eve", "mod"), at: noon, as: native)
        #expect(verbs(ban) == [.ban(user: "eve", until: nil, reason: nil)])
        let join = turn.take(.join("eve", realm: realm), at: noon + .seconds(9), as: native)
        #expect(verbs(join) == [.send(Outgoing("welcome eve"))])
        #expect(turn.take(says("x"), at: noon + .seconds(10), as: native).held == nil)
    }

    @Test func `steward never acts against itself or its owner`() {
        var turn = turn(directory: Directory(roles: ["owner": Directory.Role(users: ["test:ana"])]))
        turn.know("other", as: realm.user("helper"), in: realm)
        for what in ["mute", "ban", "kick"] {
            let refusals = ["steward", "helper", "ana"].map { whom in
                turn.take(says("\(what) \(whom)", "mod"), at: noon, as: account()).actions.first?.settled
            }
            #expect(
                refusals == [
                    .failed("steward never acts against itself"),
                    .failed("steward never acts against itself"),
                    .failed("steward never acts against its owner"),
                ])
        }
        #expect(!turn.memory.holdsAnybody)
    }

    @Test func `a mute in a channel that is called by its name holds there`() {
        let handler = Handler("far", .guard) { event, _ in
            guard event.message?.text == "go" else { return .nothing }
            var decision = Decision()
            decision.actions = [
                ChatAction(
                    .mute(user: "eve", until: nil, reason: nil),
                    in: Place(account: "test", channel: "general"))
            ]
            return decision
        }
        var turn = Turn(
            handlers: HandlerTable([handler]), directory: Directory(), memory: Memory(isComplete: true))
        #expect(turn.learn("general", of: realm.channel("lobby"), account: "test"))
        _ = turn.take(
            .message("go", from: "mod", in: "office", id: "G", realm: realm), at: noon, as: account())
        #expect(turn.take(says("x"), at: noon, as: account()).held == .mute)
    }
}
