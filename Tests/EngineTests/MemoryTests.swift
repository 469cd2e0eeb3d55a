import Chat
import ChatTesting
@testable import Engine
import Testing

@Suite struct Memories {
    let realm = Identities().realm("test")
    let noon = Timestamp(milliseconds: 1_781_524_800_000)

    private func key(_ name: String, _ subject: MemoryKey.Subject = .all) -> MemoryKey {
        MemoryKey(owner: "rule", name: name, subject: subject)
    }

    @Test func `claims keep the last moments, numbers add up, texts replace each other`() {
        let memory = Memory(isComplete: true)
        for second in 0..<4 {
            #expect(memory.apply([.claim(key("times"), at: noon + .seconds(second), most: 2, keep: nil)]))
        }
        #expect(memory.apply([.add(key("sum"), 3, keep: nil), .add(key("sum"), -5, keep: nil)]))
        #expect(
            memory.apply([.set(key("text"), .text("a"), keep: nil), .set(key("text"), .text("b"), keep: nil)])
        )
        #expect(memory.value(of: key("times")) == .times([noon + .seconds(2), noon + .seconds(3)]))
        #expect(memory.value(of: key("sum")) == .number(-2))
        #expect(memory.value(of: key("text")) == .text("b"))
        #expect(memory.apply([.forget(key("text"))]))
        #expect(memory.value(of: key("text")) == nil)
    }

    @Test func `users, channels and everybody are remembered apart`() {
        let memory = Memory(isComplete: true)
        let subjects: [MemoryKey.Subject] = [
            .user(realm.user("ana")), .user(realm.user("ben")), .channel(realm.channel("ana")), .all,
        ]
        for (number, subject) in subjects.enumerated() {
            #expect(memory.apply([.set(key("x", subject), .number(Int64(number)), keep: nil)]))
        }
        let values = subjects.map { memory.value(of: key("x", $0)) }
        #expect(values == (0..<4).map { .number($0) })
    }

    @Test func `what is remembered survives in rows, and is forgotten in its time`() {
        let user = MemoryKey.Subject.user(realm.user("ana"))
        let memory = Memory(isComplete: true)
        #expect(
            memory.apply([
                .claim(key("claim", user), at: noon, most: 5, keep: .seconds(60)),
                .set(key("text", user), .text("größe"), keep: nil),
                .set(key("number", user), .number(.min), keep: nil),
            ]))
        let rows = memory.takeChanges().compactMap { change in
            change.body.map { StoredRow(key: change.key, body: $0) }
        }
        #expect(memory.takeChanges() == [])

        let other = Memory(isComplete: false)
        #expect(other.value(of: key("text", user)) == nil)
        #expect(other.takeMissing() == [user])
        other.insert(rows, for: [user])
        #expect(other.value(of: key("text", user)) == .text("größe"))
        #expect(other.value(of: key("number", user)) == .number(.min))
        #expect(other.value(of: key("claim", user)) == .times([noon]))
        var turn = Turn(handlers: HandlerTable([]), directory: Directory(), memory: other)
        let account = Turn.Account(
            name: "test", own: nil, abilities: Abilities(events: [], actions: [], textLimit: .init(1, .bytes))
        )
        _ = turn.take(.message("hi", realm: realm), at: noon + .seconds(60), as: account)
        #expect(other.value(of: key("claim", user)) == nil)
    }

    @Test func `a change to what is not in memory waits until it is`() {
        let memory = Memory(isComplete: false)
        let user = MemoryKey.Subject.user(realm.user("ana"))
        #expect(!memory.apply([.add(key("n", user), 1, keep: nil)]))
        memory.insert([], for: memory.takeMissing())
        #expect(memory.value(of: key("n", user)) == nil)
        #expect(memory.apply([.add(key("n", user), 1, keep: nil)]))
        #expect(memory.value(of: key("n", user)) == .number(1))
    }

    @Test func `those who were not heard for long leave memory, not the store`() {
        let memory = Memory(isComplete: false)
        for number in 0..<100 {
            let user = MemoryKey.Subject.user(realm.user("user\(number)"))
            memory.insert([], for: [user])
            #expect(memory.apply([.set(key("x", user), .number(1), keep: nil)]))
            _ = memory.takeChanges()
        }
        memory.evict(over: 50)
        #expect(memory.count <= 50)
        #expect(memory.value(of: key("x", .user(realm.user("user99")))) == .number(1))
        #expect(memory.value(of: key("x", .user(realm.user("user0")))) == nil)
        #expect(memory.takeMissing() == [.user(realm.user("user0"))])
    }
}
