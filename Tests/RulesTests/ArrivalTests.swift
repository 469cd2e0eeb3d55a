import Chat
import Seeds
import Testing

@testable import Rules

/// People who come back are no crowd of strangers.
@Suite struct Arrivals {
    private let yes = ["send staff: raid"]

    private func scene(_ rate: String = "10 joins in 30s per channel") throws -> Scene {
        try Scene(
            rule:
                "    when: memberJoined\n    if: {rate: \(rate)}\n    do: [{send: {to: staff, text: raid}}]\n"
        )
    }

    /// Who joins, one each 200 ms; what came of the last.
    private func join(_ names: [String], _ scene: Scene) -> [String] {
        var last: [String] = []
        for name in names {
            scene.now = scene.now + .milliseconds(200)
            last = scene.take(scene.event(.memberJoined(scene.member(name)), in: scene.channel("general")))
        }
        return last
    }

    private let crowd = (0..<40).map { "u\($0)" }

    @Test func `strangers who come at once are a raid`() throws {
        let scene = try scene()
        #expect(join(Array(crowd.prefix(9)), scene) == [])
        #expect(join(["u9"], scene) == yes)
    }

    @Test func `when a split heals, those who come back are no raid, and strangers among them count`() throws
    {
        let scene = try scene()
        for name in crowd { scene.facts[name] = MemberFacts(firstSeen: scene.now) }
        #expect(join(crowd, scene) == [])
        #expect(join((0..<9).map { "new\($0)" }, scene) == [])
        #expect(join(["new9"], scene) == yes)
    }

    @Test func `who is found after steward's own return is no raid, for a minute`() throws {
        let scene = try scene()
        scene.take(scene.event(.serviceDown(reason: "no route"), in: nil))
        #expect(join(crowd, scene) == [])
        scene.take(scene.event(.serviceUp, in: nil))
        #expect(join(crowd.map { $0 + "b" }, scene) == [])
        scene.now = scene.now + .seconds(60)
        #expect(join(Array(crowd.prefix(9)).map { $0 + "c" }, scene) == [])
        #expect(join(["last"], scene) == yes)
    }

    /// Who leaves, one each 100 ms.
    private func leave(_ names: [String], _ scene: Scene, by: String? = nil) {
        for name in names {
            scene.now = scene.now + .milliseconds(100)
            var event = scene.event(.memberLeft(scene.member(name)), in: scene.channel("general"))
            event.by = by.map { scene.member($0).user }
            scene.take(event)
        }
    }

    @Test func `who comes after many have left at once is no raid, for a minute`() throws {
        let scene = try scene("5 joins in 30s per channel")
        leave(Array(crowd.prefix(9)), scene)
        #expect(join((0..<5).map { "a\($0)" }, scene) == yes)
        scene.now = scene.now + .seconds(60)
        leave(crowd, scene)
        #expect(join((0..<5).map { "b\($0)" }, scene) == [])
        scene.now = scene.now + .seconds(60)
        #expect(join((0..<5).map { "c\($0)" }, scene) == yes)
    }

    @Test func `who was removed, or came just now, is not one of many who left`() throws {
        let scene = try scene("5 joins in 30s per channel")
        leave(crowd, scene, by: "mod")
        #expect(join((0..<5).map { "a\($0)" }, scene) == yes)
        scene.now = scene.now + .seconds(60)
        for name in crowd { scene.facts[name] = MemberFacts(firstSeen: scene.now) }
        leave(crowd, scene)
        #expect(join((0..<5).map { "b\($0)" }, scene) == yes)
    }

    @Test func `the return of another account pauses nothing`() throws {
        let scene = try scene()
        var event = scene.event(.serviceDown(reason: "no route"), in: nil)
        event.account = "other"
        scene.take(event)
        #expect(join(crowd, scene) == yes)
    }

    @Test func `one who comes and goes again and again is counted, and so is who a rule asks for`() throws {
        for rate in [
            "10 joins in 30s per user", "{count: 10, of: joins, in: 30s, only: {first_time: false}}",
        ] {
            let scene = try scene(rate)
            scene.facts["ana"] = MemberFacts(firstSeen: scene.now)
            #expect(join(Array(repeating: "ana", count: 10), scene) == yes)
        }
    }

    @Test func `a rate of arrivals hears that steward was away`() throws {
        let scene = try scene()
        let heard = scene.rules.handlers.reduce(into: Set<EventName>()) {
            $0.formUnion($1.needs.events ?? [])
        }
        #expect(heard.isSuperset(of: [.memberJoined, .memberLeft, .serviceUp, .serviceDown]))
    }
}
