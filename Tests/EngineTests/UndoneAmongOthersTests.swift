import Chat
import ChatTesting
import Testing

@testable import Engine

/// Undoing a case takes back what that case brought, and nothing that another brought.
@Suite struct UndoneAmongOthers {
    private let noon = Timestamp(milliseconds: 1_781_524_800_000)
    private let realm = Identities().realm("test")
    private let place = Place(account: "test", channel: "lobby")
    private let memory = Memory(isComplete: true)

    private func abilities(_ actions: Set<String> = ["delete", "kick"]) -> Abilities {
        Abilities(events: [], actions: actions, textLimit: .init(4096, .codePoints))
    }

    /// One case: a rule acts for so many seconds, for good without them.
    private func act(
        _ kind: Punishment.Kind, by rule: String = "hush", event: String, seconds: Int64?, at start: Int64 = 0
    ) -> Case {
        let now = noon + .seconds(start)
        let until = seconds.map { now + .seconds($0) }
        let verb: ChatAction.Verb =
            switch kind {
            case .mute: .mute(user: "eve", until: until, reason: nil)
            case .ban: .ban(user: "eve", until: until, reason: nil)
            case .lock: .lock(until: until, reason: nil)
            case .slowmode: .slowMode(.seconds(30))
            }
        let action = ChatAction(verb, in: place, by: rule, path: "do[0]")
        let handler = Handler(rule, .guard) { event, _ in
            guard event.message?.text == "act" else { return .nothing }
            var decision = Decision()
            decision.actions = [action]
            return decision
        }
        // Who gives the word may write where it is locked.
        let directory = Directory(roles: ["moderator": Directory.Role(users: ["test:ana"])])
        var turn = Turn(handlers: HandlerTable([handler]), directory: directory, memory: memory)
        let account = Turn.Account(name: "test", own: realm.user("steward"), abilities: abilities())
        _ = turn.take(
            .message("act", from: "ana", in: "lobby", id: event, realm: realm, at: now), at: now, as: account)
        var found = Case(
            name: "C1", at: now, rule: rule, realm: "test", place: place, user: "eve", userName: "Eve",
            event: event, messages: 0)
        found.deeds = [Case.Deed(action, key: ActionKey(text: event), state: .done, at: now)]
        return found
    }

    private func undo(_ found: Case, at seconds: Int64 = 10, actions: Set<String> = ["delete", "kick"]) -> (
        verbs: [ChatAction.Verb], words: String
    ) {
        let undoing = Undoing(
            found, evidence: nil, realm: realm, abilities: abilities(actions), at: noon + .seconds(seconds)
        ) { memory.value(of: $0) }
        #expect(memory.apply(undoing.decision.changes))
        return (undoing.decision.actions.map(\.verb), undoing.words)
    }

    private var held: Punishment? {
        Punishment(memory.value(of: Punishment.key(.mute, of: realm.user("eve"), in: realm.channel("lobby"))))
    }

    @Test func `an old mute under a newer and longer one`() {
        let old = act(.mute, event: "E1", seconds: 600)
        let new = act(.mute, by: "loud", event: "E2", seconds: 6000, at: 5)
        #expect(undo(old) == ([], "Eve is still muted by loud"))
        #expect(held?.until == noon + .seconds(6005))
        #expect(undo(new) == ([.unmute(user: "eve")], "Eve unmuted"))
    }

    @Test func `an old mute over a newer and shorter one, which holds to its own end`() {
        let old = act(.mute, event: "E1", seconds: 6000)
        _ = act(.mute, event: "E2", seconds: 600, at: 5)
        #expect(held?.until == noon + .seconds(6000))
        #expect(undo(old) == ([], "Eve is still muted by hush"))
        #expect(held?.until == noon + .seconds(605))
    }

    @Test func `a service with mutes of its own is told of the end that holds`() {
        let old = act(.mute, event: "E1", seconds: nil)
        _ = act(.mute, event: "E2", seconds: 600, at: 5)
        let native: Set<String> = ["mute", "unmute"]
        let until = noon + .seconds(605)
        #expect(
            undo(old, actions: native)
                == ([.mute(user: "eve", until: until, reason: nil)], "Eve is still muted by hush"))
    }

    @Test func `a mute by deleting that holds on takes the one of the service away`() throws {
        let native: Set<String> = ["mute", "unmute"]
        let old = act(.mute, event: "E1", seconds: nil)
        _ = act(.mute, event: "E2", seconds: 600, at: 5)
        let key = Punishment.key(.mute, of: realm.user("eve"), in: realm.channel("lobby"))
        var both = try #require(Punishment(memory.value(of: key))).all
        both[1].isByDeleting = true
        let held = try #require(Punishment(both, at: noon))
        #expect(memory.apply([.set(key, held.value, keep: nil)]))
        #expect(undo(old, actions: native) == ([.unmute(user: "eve")], "Eve is still muted by hush"))
    }

    @Test func `of two mutes for good either can be undone alone`() {
        let first = act(.mute, event: "E1", seconds: nil)
        let second = act(.mute, event: "E2", seconds: nil, at: 5)
        #expect(undo(second) == ([], "Eve is still muted by hush"))
        #expect(undo(first) == ([.unmute(user: "eve")], "Eve unmuted"))
    }

    @Test(arguments: [["r1", "r2"], ["r1"]])
    func `a lock belongs to no person's case`(_ users: [String]) {
        let handler = Handler("raid", .guard) { event, _ in
            guard event.message?.text == "act", let place = event.place else { return .nothing }
            var decision = Decision()
            decision.actions = [ChatAction(.lock(until: nil, reason: nil), in: place)]
            for user in users {
                decision.actions.append(ChatAction(.removeMember(user: user), in: place))
                decision.charges.append(Decision.Charge(by: "raid", user: event.realm.user(user)))
            }
            return decision
        }
        var turn = Turn(handlers: HandlerTable([handler]), directory: Directory(), memory: memory)
        let account = Turn.Account(name: "test", own: realm.user("steward"), abilities: abilities())
        let outcome = turn.take(
            .message("act", from: "ana", in: "lobby", id: "E1", realm: realm, at: noon), at: noon, as: account
        )
        let deeds = outcome.filed.map { $0.actions.map(\.action.plainWord) }
        #expect(deeds == users.map { _ in ["kick"] })
    }

    @Test func `bans, locks and slow mode of others stay, too`() {
        let ban = act(.ban, event: "E1", seconds: 60)
        _ = act(.ban, by: "out", event: "E2", seconds: nil, at: 1)
        #expect(undo(ban) == ([], "Eve is still banned by out"))
        let lock = act(.lock, event: "E3", seconds: 60)
        _ = act(.lock, by: "raid", event: "E4", seconds: 600, at: 1)
        #expect(undo(lock) == ([], "the channel is still locked by raid"))
        let slow = act(.slowmode, event: "E5", seconds: nil)
        _ = act(.slowmode, by: "calm", event: "E6", seconds: nil, at: 1)
        #expect(undo(slow) == ([], "slow mode is still asked for by calm"))
    }
}
