import ChatServer
import JSON
import Synapse
import Testing

@testable import steward

/// The program on a real Matrix homeserver.
@Suite(.synapse, .timeLimit(.minutes(5))) struct OnAMatrixHomeserver {
    @Test(arguments: [11, 12]) func `the bots that ship welcome, answer and keep order`(version: Int)
        async throws
    {
        try await MatrixBed.run(version: version) { bed in
            try bed.useShippedBots()
            let steward = try await bed.steward()
            let (ana, lobby, staff) = (bed.ana, bed.lobby, bed.staff)
            // 01-welcome: both in one line.
            let (eve, max) = (try await bed.person("eve"), try await bed.person("max"))
            try await ana.hears("steward: Welcome, \(eve.name) and \(max.name)!", in: lobby)
            // 02-faq: an answer to the message.
            let question = try await eve.say("how do I get a refund?", in: lobby)
            let answer = try await ana.event(in: lobby) {
                $0["content"]?["body"]?.string?.hasPrefix("Refunds take 3-5 working days.") == true
            }
            #expect(answer["content"]?["msgtype"] == "m.notice")
            #expect(answer["content"]?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == question)
            // 03-moderation: newcomers post no links, and slurs are three strikes at once.
            try await max.say("see https://shop.example.net/x", in: lobby)
            try await ana.losesSight(of: "shop.example.net", in: lobby)
            try await eve.say("you n1ncompoop", in: lobby)
            try await ana.losesSight(of: "n1ncompoop", in: lobby)
            try await ana.hears("Third strike for \(eve.name)", in: staff)
            try await ana.hears("matched: n1ncompoop", in: staff)
            let muted = await #expect(throws: SynapseError.self) {
                // The mute is the server's own, and on its way.
                while true { try await eve.say("still here", in: lobby) }
            }
            #expect(muted?.description.contains("M_FORBIDDEN") == true)
            // An edit is looked at, too.
            let harmless = try await max.say("all fine", in: lobby)
            try await max.edit(harmless, to: "fl1bbertigibbet", in: lobby)
            try await ana.losesSight(of: "all fine", in: lobby)
            // 05-relay: staff hear of an outage.
            try await ana.say("the site is down", in: lobby)
            try await ana.hears("> the site is down", in: staff)
            // 08-commands and 09-moderators.
            try await ana.say("!strikes \(eve.id)", in: lobby)
            try await ana.hears("steward: \(eve.name) has 3 points.", in: lobby)
            try await ana.say("!unmute \(eve.id)", in: lobby)
            try await ana.event(in: lobby) { $0["content"]?["m.relates_to"]?["key"] == "🔊" }
            try await eve.say("thank you", in: lobby)
            try await ana.say("!kick \(max.name)", in: lobby)
            try await ana.waits(until: max.id, is: "leave", in: lobby)
            try await eve.say("!kick \(ana.name)", in: lobby)
            try await ana.say("!ban \(eve.name) 1h spam", in: lobby)
            try await ana.waits(until: eve.id, is: "ban", in: lobby)
            try await ana.say("!unban \(eve.id)", in: lobby)
            try await ana.waits(until: eve.id, is: "leave", in: lobby)
            #expect(try await steward.stop() == .fine)
            #expect(
                try await ana.state("m.room.member", key: ana.id, in: lobby)["membership"] == "join")
        }
    }

    @Test func `muted is muted through leaving, rejoining and a restart, until the second it ends`()
        async throws
    {
        let bot = """
            version: 1
            rules:
              hush:
                when: messageAdded
                if: {text: [hush]}
                do:
                  - mute: {for: 15s, reason: loud}
              greeting:
                when: messageAdded
                if: {text: [hello]}
                do:
                  - reply: "Hello, {{ user.name }}."
            """
        try await MatrixBed.run { bed in
            let (ana, lobby) = (bed.ana, bed.lobby)
            let first = try await bed.steward(bot: bot)
            let eve = try await bed.person("eve")
            try await eve.say("hush", in: lobby)
            let levels = { (event: JSON) in
                event["type"] == "m.room.power_levels"
                    && (event["content"]?["users"]?[eve.id]?.int ?? 0) < 0
            }
            try await ana.event(in: lobby, where: levels)
            try await eve.leave(lobby)
            #expect(try await first.stop() == .fine)
            try await eve.join(lobby)
            await #expect(throws: SynapseError.self) { try await eve.say("one", in: lobby) }
            let second = try await bed.steward(bot: bot)
            await second.transcript.wait(for: "is over")
            while levels(
                [
                    "type": "m.room.power_levels",
                    "content": try await ana.state("m.room.power_levels", in: lobby),
                ])
            {
                try await Task.sleep(for: .milliseconds(20))
            }
            try await eve.say("hello", in: lobby)
            try await ana.hears("Hello, \(eve.name).", in: lobby)
            #expect(try await second.stop() == .fine)
        }
    }

    @Test func `with too little power for a mute, what a muted person writes is deleted until it ends`()
        async throws
    {
        let bot = """
            version: 1
            rules:
              hush:
                when: messageAdded
                if: {text: [hush]}
                do:
                  - mute: {for: 10s, reason: loud}
              greeting:
                when: messageAdded
                if: {text: [hello]}
                do:
                  - reply: "Hello, {{ user.name }}."
            """
        try await MatrixBed.run { bed in
            let (ana, lobby) = (bed.ana, bed.lobby)
            try await ana.setPower(50, of: bed.bot.id, in: lobby)
            let steward = try await bed.steward(bot: bot)
            await steward.transcript.wait(
                for: "by deleting what is written: mute needs power 100 there")
            let eve = try await bed.person("eve")
            try await eve.say("hush", in: lobby)
            try await eve.say("not heard", in: lobby)
            try await ana.losesSight(of: "not heard", in: lobby)
            try await eve.leave(lobby)
            try await eve.join(lobby)
            try await eve.say("nor this", in: lobby)
            try await ana.losesSight(of: "nor this", in: lobby)
            await steward.transcript.wait(for: "is over")
            try await eve.say("hello", in: lobby)
            try await ana.hears("Hello, \(eve.name).", in: lobby)
            #expect(try await steward.stop() == .fine)
            #expect(!steward.transcript.lines.contains { $0.contains("refused") })
        }
    }

    @Test func `of a mute that the homeserver refuses staff are told, and steward deletes instead`()
        async throws
    {
        let bot = """
            version: 1
            defaults: {report_to: staff}
            rules:
              hush:
                when: messageAdded
                if: {text: [hush]}
                exempt: none
                do:
                  - mute: {for: 1h, reason: loud}
            """
        try await MatrixBed.run { bed in
            let (ana, lobby) = (bed.ana, bed.lobby)
            let eve = try await bed.person("eve")
            try await ana.setPower(100, of: eve.id, in: lobby)
            let steward = try await bed.steward(bot: bot)
            try await eve.say("hush", in: lobby)
            try await ana.hears("\(eve.name) could not be muted in", in: bed.staff)
            try await ana.hears("they have power 100 and steward has 100", in: bed.staff)
            try await ana.hears(
                "; what they write is deleted instead (rule \"hush\", case C1).", in: bed.staff)
            try await eve.say("not heard", in: lobby)
            try await ana.losesSight(of: "not heard", in: lobby)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `whoever is banned stays out until the ban is over`() async throws {
        let bot = """
            version: 1
            rules:
              out:
                when: messageAdded
                if: {text: [out]}
                do:
                  - ban: {for: 6s, reason: enough}
              gone:
                when: memberBanned
                if: {by: steward}
                do:
                  - send: {to: staff, text: "{{ user.name }} is out"}
              left:
                when: memberLeft
                if: {user: {left_by: removal}, by: another}
                do:
                  - send: {to: staff, text: "{{ user.name }} was removed by {{ by.id }}"}
            """
        try await MatrixBed.run { bed in
            let (ana, lobby) = (bed.ana, bed.lobby)
            let steward = try await bed.steward(bot: bot)
            let (eve, max) = (try await bed.person("eve"), try await bed.person("max"))
            try await eve.say("out", in: lobby)
            try await ana.waits(until: eve.id, is: "ban", in: lobby)
            await #expect(throws: SynapseError.self) { try await eve.join(lobby) }
            try await ana.hears("\(eve.name) is out", in: bed.staff)
            try await ana.kick(max.id, from: lobby)
            try await ana.hears("\(max.name) was removed by", in: bed.staff)
            try await ana.waits(until: eve.id, is: "leave", in: lobby)
            try await eve.join(lobby)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `staff are told at once of a message that could not be deleted`() async throws {
        let bot = """
            version: 1
            defaults: {report_to: staff}
            rules:
              bad:
                when: [messageAdded, messageEdited]
                if: {text: bad}
                breaker: none
                do: [delete]
            """
        try await MatrixBed.run { bed in
            try await bed.ana.setPower(0, of: bed.bot.id, in: bed.lobby)
            let steward = try await bed.steward(bot: bot)
            let eve = try await bed.person("eve")
            try await eve.say("bad one", in: bed.lobby)
            try await bed.ana.hears("A message of \(eve.name) in", in: bed.staff)
            try await bed.ana.hears("is still there, for it could not be deleted", in: bed.staff)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `reactions are heard and answered`() async throws {
        let bot = """
            version: 1
            rules:
              liked:
                when: reactionAdded
                if: {reaction: "👍"}
                do:
                  - react: "🎉"
                  - reply: "{{ user.name }} likes it."
            """
        try await MatrixBed.run { bed in
            let steward = try await bed.steward(bot: bot)
            let hello = try await bed.ana.say("hello", in: bed.lobby)
            let eve = try await bed.person("eve")
            try await eve.react("👍🏽", to: hello, in: bed.lobby)
            try await bed.ana.hears("\(eve.name) likes it.", in: bed.lobby)
            let own = try await bed.ana.event(in: bed.lobby) { event in
                event["content"]?["m.relates_to"]?["key"] == "🎉"
            }
            #expect(own["content"]?["m.relates_to"]?["event_id"]?.string == hello)
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `two stewards that answer each other fall silent`() async throws {
        let bot = """
            version: 1
            rules:
              hello:
                when: messageAdded
                if: {text: hello}
                do:
                  - reply: "hello"
            """
        try await MatrixBed.run { bed in
            try await MatrixBed.run { other in
                try await other.bot.join(bed.lobby)
                let talkative = "send_notices: false"
                let one = try await bed.steward(bed.config(talkative), bot: bot)
                let theirs = other.config(talkative).replacing(other.lobby, with: bed.lobby)
                let two = try await other.steward(theirs, bot: bot)
                try await bed.ana.say("hello", in: bed.lobby)
                await one.transcript.wait(for: "hello is silent towards")
                let texts = try await bed.ana.texts(in: bed.lobby)
                #expect(texts.count < 30)
                #expect(try await one.stop() == .fine)
                #expect(try await two.stop() == .fine)
            }
        }
    }

    @Test func `what is said in a room is said in a channel of the built-in server, and back`() async throws {
        let bot = """
            version: 1
            rules:
              out:
                when: messageAdded
                in: "matrix:lobby"
                do:
                  - relay: {to: "twilio:general", text: "[matrix] {{ user.name }}: {{ message.text }}"}
              back:
                when: messageAdded
                in: "twilio:general"
                do:
                  - relay: {to: "matrix:lobby", text: "[town] {{ user.name }}: {{ message.text }}"}
            """
        try await MatrixBed.run { bed in
            try await TestBed.run { town, general in
                let twilio = town.usualConfig.split(separator: "\n")[1]
                let both = bed.config().replacing("storage:", with: "\(twilio)\nstorage:")
                let steward = try await bed.steward(both, bot: bot)
                try await bed.ana.say("hello town", in: bed.lobby)
                await town.wait(for: "[matrix] \(bed.ana.name): hello town", in: general)
                try await town.server.post("hello *room*", in: general, as: "ana")
                try await bed.ana.hears("steward: [town] ana: hello *room*", in: bed.lobby)
                #expect(try await steward.stop() == .fine)
                // Neither side hears its own words again.
                #expect(town.texts(in: general).count == 2)
                #expect(try await bed.ana.texts(in: bed.lobby).count == 2)
            }
        }
    }
}
