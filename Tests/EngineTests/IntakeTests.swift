import Chat
import ChatTesting
@testable import Engine
import Testing

@Suite struct Intakes {
    let realm = Identities().realm("test")

    private func event(
        _ number: Int64, index: Int64? = nil, from user: String = "ana", account: String = "one",
        edited: Bool = false
    ) -> ChatEvent {
        var event = ChatEvent.message("hi", from: user, id: "E\(number)", realm: realm, account: account)
        if edited, let message = event.message { event.kind = .messageEdited(message) }
        event.cursor = Cursor(stream: realm.stream("messages"), position: .number(number, index: index))
        return event
    }

    @Test func `our own messages go no further, on whichever account they are read`() {
        var intake = Intake()
        intake.identified(as: realm.user("steward"))
        intake.identified(as: realm.user("second"))
        #expect(intake.admit(event(1, from: "steward")) == .own)
        #expect(intake.admit(event(2, from: "second", account: "two")) == .own)
        #expect(intake.admit(event(3)) == .new)
    }

    @Test func `a message that we sent is ours, whoever seems to have written it`() {
        var intake = Intake()
        intake.sent("E1", in: realm)
        #expect(intake.admit(event(1, from: "bridge")) == .own)
    }

    @Test func `two accounts in one realm read each event once`() {
        var intake = Intake()
        #expect(intake.admit(event(1, index: 0)) == .new)
        #expect(intake.admit(event(1, index: 0, account: "two")) == .duplicate)
        #expect(intake.admit(event(2, index: 1, account: "two")) == .new)
        #expect(intake.admit(event(2, index: 1)) == .duplicate)
    }

    @Test func `where each account has a stream of its own, too, they read each event once`() {
        func event(_ id: String, _ token: String, of account: String) -> ChatEvent {
            var event = ChatEvent.message("hi", from: "ana", id: id, realm: realm, account: account)
            event.cursor = Cursor(stream: realm.stream("sync/\(account)"), position: .token(token))
            return event
        }
        var intake = Intake()
        #expect(intake.admit(event("E1", "a0", of: "one")) == .new)
        #expect(intake.admit(event("E1", "b1", of: "two")) == .duplicate)
        #expect(intake.admit(event("E2", "b2", of: "two")) == .new)
        #expect(intake.admit(event("E2", "a2", of: "one")) == .duplicate)
        // Each is as far as it has read all the same.
        #expect(
            intake.cursors(of: realm) == ["sync/one": .token("a2"), "sync/two": .token("b2")])
    }

    @Test func `messages go by their index, everything else by its number`() {
        var intake = Intake()
        #expect(intake.admit(event(10, index: 4)) == .new)
        // Read from the list after a gap, with an old event number.
        #expect(intake.admit(event(10, index: 5)) == .new)
        #expect(intake.admit(event(11, index: 5)) == .duplicate)
        #expect(intake.admit(event(12, edited: true)) == .new)
        #expect(intake.admit(event(12, edited: true)) == .duplicate)
    }

    @Test func `what was there when a stream was first read is history`() {
        var intake = Intake()
        let stream = realm.stream("messages")
        intake.begin([Cursor(stream: stream, position: .number(5, index: 3))])
        #expect(intake.admit(event(5, index: 3)) == .duplicate)
        #expect(intake.admit(event(6, index: 4)) == .new)
        // What was decided since counts more than a second beginning.
        intake.begin([Cursor(stream: stream, position: .number(1, index: 0))])
        #expect(intake.cursors(of: realm) == ["messages": .number(6, index: 4)])
    }

    @Test func `an opaque mark says less than its events, so they are remembered until it moves`() {
        var intake = Intake()
        func event(_ id: String, _ token: String) -> ChatEvent {
            var event = ChatEvent.message("hi", id: id, realm: realm)
            event.cursor = Cursor(stream: realm.stream("sync"), position: .token(token))
            return event
        }
        #expect(intake.admit(event("A", "t1")) == .new)
        #expect(intake.admit(event("B", "t1")) == .new)
        #expect(intake.admit(event("A", "t1")) == .duplicate)
        #expect(intake.admit(event("C", "t2")) == .new)
        #expect(intake.cursors(of: realm) == ["sync": .token("t2")])
    }

    @Test func `an event without a place in a stream is known by its id`() {
        var intake = Intake()
        #expect(intake.admit(.join(realm: realm)) == .new)
        #expect(intake.admit(.join(realm: realm, account: "two")) == .duplicate)
        #expect(intake.admit(.join(in: "staff", realm: realm)) == .new)
    }
}
