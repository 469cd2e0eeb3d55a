import Chat
import Seeds
import Testing
import Unicode

@testable import Rules

@Suite struct HiddenWordTests {
    private func answers(_ condition: String, _ text: String) throws -> Bool {
        let scene = try Scene(
            rule:
                "    when: messageAdded\n    if: {text: \(condition)}\n    do: [{send: {to: staff, text: \"yes\"}}]\n"
        )
        return scene.say(text) == ["send staff: yes"]
    }

    @Test(arguments: [
        ("you s p a m here", true), ("s.p.a.m", true), ("S-P-A-M!", true), ("s  p  a  m", true),
        ("с п а м", false),
        ("spam", true), ("sp am", false), ("a s p a m b", false), ("s p a\nm", true), ("s `x` p a m", false),
        ("s\u{301} p a m", true), ("e mail spa m", false),
    ])
    func `squeezed joins single letters and nothing else`(_ text: String, _ expected: Bool) throws {
        #expect(try answers("{has_any: spam, fold: squeezed}", text) == expected)
        if text.contains(" ") || text.contains(".") || text.contains("-"), text != "e mail spa m" {
            #expect(try !answers("{has_any: spam, fold: loose}", text))
        }
    }

    @Test func `a rule that deletes cannot use squeezed, for it finds words in Sky sources`() {
        let text =
            "version: 1\nrules:\n  it: {when: [messageAdded, messageEdited], if: {text: {has_any: kys, fold: squeezed}}, do: [delete]}\n"
        #expect(
            RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors.map(\.description) == [
                "x.yaml:3:77: error: a rule that deletes cannot use \"squeezed\": it finds words in what was not meant - use loose, or report instead"
            ])
    }

    @Test func `the place of what was squeezed is told as it was written`() throws {
        let scene = try Scene(
            rule:
                "    when: messageAdded\n    if: {text: {has_any: spam, fold: squeezed}}\n    do: [{send: {to: staff, text: x}}]\n"
        )
        let event = scene.event(
            .messageAdded(scene.message("no s.p.a.m here", by: scene.member("ana"))),
            in: scene.channel("general"))
        #expect(
            scene.rules.explain(event, in: scene.situation(for: event)).entries[0].reason
                == "matches: \"s.p.a.m\"")
    }

    @Test func `near finds each word with so many mistakes, wherever they are`() throws {
        var random = SeededRandom(seed: 11)
        for (word, edits) in [("password", 2), ("refund", 1), ("subscription", 3), ("hallo", 1)] {
            let test = NearTest(
                phrases: [Array(arrayLiteral: Array(word.unicodeScalars))], edits: edits, words: [], lanes: []
            )
            let pieces = NearTest.pieces(of: [Array(word.unicodeScalars)], edits: edits).map {
                String(String.UnicodeScalarView($0))
            }
            for _ in 0..<200 {
                var letters = Array(word)
                for _ in 0..<edits {
                    let place = Int.random(in: 0..<letters.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: letters.remove(at: place)
                    case 1: letters.insert("x", at: place)
                    case 2: letters[place] = "y"
                    default: if place > 0 { letters.swapAt(place, place - 1) }
                    }
                }
                let said = String(letters)
                let isNear = test.matches([NearWord(Array(said.unicodeScalars))])
                // What has no piece is not looked at, so it must not be near.
                if isNear { #expect(pieces.contains { said.contains($0) }, "\(said) has none of \(pieces)") }
            }
        }
    }

    @Test(arguments: [
        ("user.id", true), ("user.name", false), ("channel.title", false), ("attachments.type", false),
    ])
    func `texts around a message are looked at where a rule says`(_ field: String, _ expected: Bool) throws {
        let scene = try Scene(
            rule:
                "    when: messageAdded\n    if: {text: {has_any: [u7, Lounge, image], match: anywhere, fields: \(field)}}\n    do: [{send: {to: staff, text: x}}]\n"
        )
        let author = scene.member("u7", name: "Ana")
        let file = Message.Attachment(id: "1", name: "a", contentType: "image/png", size: 1)
        let plain = scene.event(
            .messageAdded(scene.message("hi", by: author)), in: scene.channel("general"))
        #expect(scene.take(plain).isEmpty != expected)
        let both = scene.event(
            .messageAdded(scene.message("hi", by: author, attachments: [file])),
            in: scene.channel("general", title: "The Lounge"))
        #expect(scene.take(both).isEmpty == (field == "user.name"))
    }

    @Test func `explain shows the word that is near`() throws {
        let scene = try Scene(
            rule:
                "    when: messageAdded\n    if: {text: {near: {any: [password], edits: 2}}}\n    do: [{reply: x}]\n"
        )
        func reason(_ text: String) -> String {
            let event = scene.event(
                .messageAdded(scene.message(text, by: scene.member("ana"))), in: scene.channel("general"))
            return scene.rules.explain(event, in: scene.situation(for: event)).entries[0].reason
        }
        #expect(reason("my PASWORD") == "matches: \"pasword\", near \"password\"")
        #expect(reason("my word") == "no: nothing is near \"password\"")
    }

    @Test func `a rule whose channels are all left out can never run`() {
        let text =
            "version: 1\nrules:\n  it: {when: messageAdded, in: lobby, not_in: [staff, lobby], do: [{reply: a}]}\n"
        #expect(
            RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory())
                .errors.map(\.problem) == ["this rule can never run: \"not_in\" leaves none of its channels"])
    }
}
