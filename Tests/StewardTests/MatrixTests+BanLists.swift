import ChatServer
import JSON
import Synapse
import Testing

@testable import steward

/// Ban lists that communities share.
extension OnAMatrixHomeserver {
    @Test func `a ban list that is followed keeps people and servers out, and says by which entry`()
        async throws
    {
        let bot = """
            version: 1
            defaults: {report_to: staff}
            rules:
              listed:
                when: [memberJoined, messageAdded]
                if: {policy: coc}
                breaker: none
                do:
                  - ban: {reason: "{{ policy.list }}: {{ policy.reason }}"}
                  - report: "{{ user.id }} is {{ policy.entity }} in {{ policy.list }}"
              person:
                when: policyAdded
                if: {check: {value: "{{ policy.subject }}", is: user}}
                breaker: none
                do:
                  - ban: {user: "{{ policy.entity }}", in: lobby, reason: "{{ policy.reason }}"}
              server:
                when: policyAdded
                if: {check: {value: "{{ policy.subject }}", is: server}}
                breaker: none
                do:
                  - acl: {deny: "{{ policy.entity }}", in: lobby}
              all:
                when: serviceUp
                do:
                  - acl: {from: coc, in: lobby}
            """
        try await MatrixBed.run { bed in
            let lists = try await bed.synapse.person("lists")
            let coc = try await lists.createRoom("Code of conduct")
            func entry(_ kind: String, _ entity: String, _ reason: String = "spam") async throws {
                try await lists.setState(
                    "m.policy.rule.\(kind)",
                    [
                        "entity": .string(entity), "reason": .string(reason), "recommendation": "m.ban",
                    ], key: "rule:\(entity)", in: coc)
            }
            try await entry("user", "@spammer*:*", "advertising")
            try await entry("server", "old.example")
            try await bed.bot.join(coc)
            let config = bed.config("policies: {coc: \"\(coc)\"}")
            let steward = try await bed.steward(config, bot: bot)
            let denied = { (server: String) in
                try await bed.ana.event(in: bed.lobby) { event in
                    event["type"] == "m.room.server_acl"
                        && event["content"]?["deny"]?.array?.contains(.string(server)) == true
                }
            }
            // What was there already.
            let first = try await denied("old.example")
            #expect(first["content"]?["allow"] == ["*"])
            let spammer = try await bed.person("spammer")
            try await bed.ana.waits(until: spammer.id, is: "ban", in: bed.lobby)
            try await bed.ana.hears("*:* in coc", in: bed.staff)
            // What is new.
            try await entry("server", "*.evil.example")
            _ = try await denied("*.evil.example")
            let eve = try await bed.person("eve")
            try await entry("user", eve.id)
            try await bed.ana.waits(until: eve.id, is: "ban", in: bed.lobby)
            // What is taken back.
            try await lists.setState("m.policy.rule.user", [:], key: "rule:@spammer*:*", in: coc)
            try await bed.ana.unban(spammer.id, in: bed.lobby)
            let last = try await lists.say("a later event", in: coc)
            #expect(!last.isEmpty)
            try await spammer.join(bed.lobby)
            try await spammer.say("hello", in: bed.lobby)
            try await bed.ana.say("bye", in: bed.lobby)
            #expect(try await steward.stop() == .fine)
            #expect(
                try await bed.ana.state("m.room.member", key: spammer.id, in: bed.lobby)["membership"]
                    == "join")
        }
    }
}
