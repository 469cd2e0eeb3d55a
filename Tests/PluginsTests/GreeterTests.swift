public import Chat
import ChatTesting
import Foundation
import Testing

// What stands from here on is the example of the page "Writing a plugin", letter by letter; a test below sees to it.

/// Greets whoever joins.
public struct Greeter: Plugin {
    public struct Settings: Decodable, Sendable {
        var text: String?
    }

    public let name = "greeter"
    public let stage = Stage.answer
    public let needs = Needs(events: [.memberJoined])
    private let text: String

    public init(settings: Settings) {
        text = settings.text ?? "Welcome, {name}!"
    }

    public func decide(_ event: ChatEvent, in situation: Situation) throws -> Decision {
        guard case .memberJoined(let member) = event.kind else { return .nothing }
        return .send(text.replacing("{name}", with: member.name), about: event)
    }
}

extension Greeter {
    public var conditions: [PluginCondition] {
        [
            PluginCondition("longer_than", "The name has more letters.") { text in
                let limit = Int(text) ?? 0
                return { event, _ in (event.member?.name.count ?? 0) > limit }
            }
        ]
    }
}

@Suite struct GreeterPlugin {
    @Test func `whoever joins is greeted by name`() throws {
        let greeter = Greeter(settings: .init(text: nil))
        let decision = try greeter.decide(.join("ana"), in: .test())
        #expect(decision.actions.map(\.verb) == [.send(Outgoing("Welcome, ana!"))])
        #expect(decision.answers == 1)
    }
}

@Suite struct WritingAPlugin {
    @Test func `the page's example is what is tested here`() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "Sources/Chat/Documentation.docc/WritingAPlugin.md"),
            encoding: .utf8)
        let tested = try String(contentsOf: here, encoding: .utf8)
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
            .filter { $0.contains("struct ") }
        #expect(blocks.count == 2)
        for block in blocks {
            let code = block.replacing("public import Chat\n\n", with: "")
            #expect(tested.contains(code), "the page shows:\n\(code)")
        }
    }

    @Test func `what is no joining is nothing to it`() throws {
        let greeter = Greeter(settings: .init(text: "Hello, {name}."))
        #expect(try greeter.decide(.message("hello"), in: .test()).isEmpty)
    }

    @Test func `it offers rules a condition`() throws {
        let offer = try #require(Greeter(settings: .init(text: nil)).conditions.first)
        let isLong = try offer.read("3")
        #expect(isLong(.join("anna"), .test()))
        #expect(!isLong(.join("ana"), .test()))
    }
}
