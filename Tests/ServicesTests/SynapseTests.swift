import JSON
import Synapse
import Testing

/// The homeserver that other tests stand on.
@Suite(.synapse, .timeLimit(.minutes(2))) struct TheHomeserver {
    @Test(arguments: [11, 12]) func `people talk in rooms`(version: Int) async throws {
        let synapse = try await Synapse.shared()
        let ana = try await synapse.person("ana")
        let eve = try await synapse.person("eve")
        let room = try await ana.createRoom("lobby", version: version)
        try await eve.join(room)
        let hello = try await eve.say("hello", in: room)
        try await ana.reply("hi", to: hello, in: room)
        try await eve.edit(hello, to: "hello all", in: room)
        let rude = try await eve.say("darn", in: room)
        try await ana.redact(rude, in: room)
        #expect(try await ana.texts(in: room) == ["eve: hello", "ana: hi", "eve: * hello all"])
        try await ana.setPower(50, of: eve.id, in: room)
        #expect(
            try await ana.state("m.room.power_levels", in: room)["users"]?[eve.id] == 50)
        try await ana.kick(eve.id, from: room)
        await #expect(throws: SynapseError.self) { try await eve.say("hello?", in: room) }
    }

    @Test func `a limit is for one user, and a restart keeps what was said`() async throws {
        let synapse = try await Synapse.shared()
        let ana = try await synapse.person("ana")
        let room = try await ana.createRoom()
        try await ana.say("one", in: room)
        try await synapse.limit(ana.id, (perSecond: 1, burst: 1))
        let refused = await #expect(throws: SynapseError.self) {
            for _ in 1...5 { try await ana.say("too many", in: room, type: "m.notice") }
        }
        #expect(refused?.description.contains("M_LIMIT_EXCEEDED") == true)
        try await synapse.limit(ana.id, nil)
        await synapse.stop()
        await synapse.restart()
        try await ana.say("two", in: room)
        #expect(
            try await ana.texts(in: room).filter { $0 != "ana: too many" } == ["ana: one", "ana: two"])
    }
}
