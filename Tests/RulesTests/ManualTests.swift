import Chat
import Foundation
import Testing

@testable import Rules

/// The page "The rule language" names all that can be written, and all that cannot be written yet.
@Suite struct Manual {
    struct Word: Sendable, CustomTestStringConvertible {
        var name: String
        var isBuilt: Bool

        var testDescription: String { name }
    }

    private static func words<Target>(_ table: KeyTable<Target>) -> [Word] {
        table.keys.map { Word(name: $0.name, isBuilt: $0.read != nil) }
    }

    static let keys: [Word] =
        words(BotTables.file) + words(BotTables.listFile) + words(BotTables.group) + words(BotTables.defaults)
        + words(BotTables.exempt) + words(BotTables.rule) + words(BotTables.examples)
        + words(BotTables.specialEvents) + words(BotTables.conditions) + words(BotTables.text)
        + words(BotTables.links) + words(BotTables.mentions) + words(BotTables.caps)
        + words(BotTables.window) + words(BotTables.time) + words(BotTables.check) + words(BotTables.rate)
        + words(BotTables.near) + words(BotTables.user) + words(BotTables.role) + words(BotTables.actions)
        + words(BotTables.reply) + words(BotTables.send) + words(BotTables.dm) + words(BotTables.warn)
        + words(BotTables.relay) + words(BotTables.delete)
        + words(BotTables.test) + words(BotTables.given) + words(BotTables.person) + words(BotTables.step)
        + words(BotTables.saying) + words(BotTables.reacting) + words(BotTables.policyEntry)
        + words(BotTables.expectedKeys) + words(BotTables.commands)
        + words(BotTables.command) + words(BotTables.counter) + words(BotTables.count)
        + words(BotTables.branch) + words(BotTables.log) + moderation
        + (BotArgument.Kind.names + ["optional"]).flatMap { $0.split(separator: " ").map(String.init) }.map {
            Word(name: $0, isBuilt: true)
        }

    private static let moderation: [Word] =
        words(BotTables.ladder) + words(BotTables.modeKeys) + words(BotTables.mode)
        + words(BotTables.permitTest) + words(BotTables.strikes) + words(BotTables.strikeEvent)
        + words(BotTables.breakerKeys) + words(BotTables.strike) + words(BotTables.punishment)
        + words(BotTables.pardon) + words(BotTables.kick) + words(BotTables.lock) + words(BotTables.unlock)
        + words(BotTables.slowmode) + words(BotTables.permit) + words(BotTables.report)
        + words(BotTables.each) + words(BotTables.invite) + words(BotTables.create)
        + words(BotTables.naming) + words(BotTables.acl)
        + words(BotTables.confirm)
        + BotDeed.Include.allCases.map { Word(name: $0.rawValue, isBuilt: true) }

    static let values: [Word] =
        TemplateRoot.all.flatMap { root in
            root.fields.map {
                Word(name: $0.name.isEmpty ? root.name : "\(root.name).\($0.name)", isBuilt: true)
            }
        } + TemplateRoot.declared.map { Word(name: $0, isBuilt: true) }
        + OpenSpan.parts.map { Word(name: "window.\($0.name)", isBuilt: true) }
        + TemplateRoot.later.sorted().map { Word(name: $0, isBuilt: false) }

    static let filters: [Word] =
        TemplateFilter.all.map { Word(name: $0.name, isBuilt: true) }
        + TemplateFilter.later.sorted().map { Word(name: $0, isBuilt: false) }

    static let events: [Word] = EventName.allCases.map { Word(name: $0.rawValue, isBuilt: true) }

    /// What works, and behind it what does not yet.
    private func halves() throws -> (built: String, unbuilt: String) {
        let file = fixtures.appending(path: "../../../Sources/Chat/Documentation.docc/Rules.md")
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "not built yet\n")
        try #require(parts.count == 2)
        return (parts[0], parts[1])
    }

    @Test(arguments: keys + values + filters + events)
    func `each word of the language is on the page, where it belongs`(_ word: Word) throws {
        let (built, unbuilt) = try halves()
        let half = word.isBuilt ? built : unbuilt
        // Without blocks of examples and the one backtick that is spoken of, each second piece is code.
        let text = half.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }
            .map(\.element).joined().replacing("`` ` ``", with: "")
        let code = text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let isThere = code.contains { piece in
            piece.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }.contains {
                $0 == word.name
            }
        }
        #expect(isThere, "\(word.name) is missing where \(word.isBuilt ? "built" : "unbuilt") words stand")
    }
}
