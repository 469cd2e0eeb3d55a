import Chat
import Foundation
import Testing
import YAML

@testable import Rules

/// A bot, and a story of what people do and what the bot does then: a folder of fixtures each.
@Suite struct StoryTests {
    @Test(arguments: files(in: "stories"))
    func `the bot does what its story tells`(_ name: String) throws {
        let folder = fixtures.appending(path: "stories/\(name)")
        let scene = try Scene(String(contentsOf: folder.appending(path: "bot.yaml"), encoding: .utf8))
        let story = YAMLDocument.read(Array(try Data(contentsOf: folder.appending(path: "story.yaml"))))
        #expect(story.errors == [])
        let steps = try #require(story.root?.items)
        let start = scene.now
        for step in steps {
            if let at = step["at"]?.text { scene.now = try start + Duration(text: at) }
            let channel = scene.channel(try #require(step["in"]?.text))
            let event = scene.event(try kind(of: step, scene), in: channel)
            let expected = step["expect"]?.items?.compactMap(\.text) ?? []
            #expect(scene.take(event) == expected, "line \(step.place.line)")
        }
    }

    private func kind(of step: YAMLNode, _ scene: Scene) throws -> ChatEvent.Kind {
        let by = step["by"]?.text ?? "nobody"
        if let text = step["say"]?.text { return .messageAdded(scene.message(text, by: scene.member(by))) }
        if let text = step["edit"]?.text { return .messageEdited(scene.message(text, by: scene.member(by))) }
        if let name = step["rename"]?.text { return .memberUpdated(scene.member(by, name: name)) }
        if let name = step["join"]?.text { return .memberJoined(scene.member(name)) }
        return .memberLeft(scene.member(try #require(step["leave"]?.text)))
    }
}
