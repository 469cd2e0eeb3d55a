import Chat
import FoundationEssentials
import Testing

@testable import Engine

@Suite struct JSONRowTests {
    private struct Mixed: Codable, Equatable {
        enum Shape: Codable, Equatable {
            case point
            case circle(Double)
            case named(String, sides: [Int8?], of: [Shape])
        }

        var text: String
        var small: UInt8
        var large: UInt64
        var half: Float
        var isTrue: Bool
        var nothing: String?
        var numbers: [[Int]]
        var names: [String: Shape]
        var wait: Duration
        var times: [Timestamp?]
        var empty: [String: String]
        var shape: Shape
    }

    @Test func `a row is read as it was written, whatever is in it`() throws {
        let texts = [
            "", "plain", "\"quoted\" \\ and / \n\r\t\u{1F}\u{0}", "Grüße, 世界 👋🏽 \u{2028}", "\u{7F}\u{FFFD}",
        ]
        for text in texts {
            let value = Mixed(
                text: text, small: 255, large: .max, half: -0.5, isTrue: false, nothing: nil,
                numbers: [[], [.min, .max], []],
                names: [
                    text: .point, "b": .circle(1e300), "c": .named(text, sides: [nil, -128], of: [.point]),
                ],
                wait: .milliseconds(-1500), times: [nil, Timestamp(milliseconds: .max)], empty: [:],
                shape: .named("x", sides: [], of: [.named("y", sides: [1], of: []), .circle(0)]))
            #expect(JSONRow.value(Mixed.self, from: JSONRow.body(of: value)) == value)
        }
        #expect(JSONRow.value([String?].self, from: JSONRow.body(of: ["a", nil])) == ["a", nil])
        #expect(JSONRow.body(of: Double.nan) == [])
    }

    @Test func `an action is written as earlier versions wrote it`() throws {
        var then = Continuation(owner: "rule", step: "do[1]", values: ["a": "b"])
        then.place = Place(account: "one", channel: "CH1")
        var open = OpenAction(
            key: ActionKey(text: "k"),
            action: ChatAction(
                .reply(
                    Outgoing("hello", attachments: [.init(name: "n", contentType: "t", bytes: [0, 255])]),
                    to: MessageReference(id: "IM1", index: 4)),
                in: Place(account: "one", channel: "CH1"), by: "rule", path: "do[0]", then: then),
            event: "IM1", realm: "IS1", since: Timestamp(milliseconds: 5), order: 6)
        open.cases = ["CASE-1"]
        let actions: [OpenAction] =
            [open]
            + [
                ChatAction.Verb.destroyChannel, .slowMode(.seconds(5)), .slowMode(nil),
                .denyServers(["a", "b"]),
                .ban(user: "u", until: nil, reason: "why"),
                .lock(until: Timestamp(milliseconds: 1), reason: nil),
                .deleteMessage(MessageReference(id: "IM2")), .createChannel(title: "t", attributes: nil),
                .send(Outgoing("\"a\" \\ b", mentions: ["u", "v"], attributes: "{}", isSkippable: true)),
                .send(Outgoing("", inThread: true, isSilent: true)),
                .reply(Outgoing("b"), to: MessageReference(id: "IM3")),
                .reply(Outgoing("c"), to: MessageReference(id: "IM3", index: 9)),
            ].map { verb in
                var other = open
                other.action.verb = verb
                return other
            }
        let plain = actions.map { action in
            var action = action
            action.action.then = nil
            action.author = "u"
            action.cases = action.order == 6 ? nil : ["CASE-1", "CASE-2"]
            return action
        }
        for action in actions + plain {
            let body = JSONRow.body(of: action)
            #expect(body.sorted() == action.body.sorted())
            #expect(JSONRow.value(OpenAction.self, from: action.body) == action)
            #expect(JSONRow.value(OpenAction.self, from: body) == action)
            // Either may read what the other wrote, and both say the same.
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let usual = try encoder.encode(action)
            #expect(JSONRow.value(OpenAction.self, from: Array(usual)) == action)
            #expect(body.sorted() == usual.sorted())
        }
    }
}
