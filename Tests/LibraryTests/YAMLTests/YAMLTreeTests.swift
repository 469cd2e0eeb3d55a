import Testing

@testable import YAML

func read(_ text: String) -> YAMLDocument { YAMLDocument.read(Array(text.utf8)) }

/// The tree in one line, for comparing.
func shape(_ node: YAMLNode?) -> String {
    guard let node else { return "nothing" }
    switch node.kind {
    case .scalar(let text, _): return "‹\(text)›"
    case .sequence(let items): return "[" + items.map(shape).joined(separator: " ") + "]"
    case .mapping(let entries):
        return "{" + entries.map { "\($0.key.text ?? "?"): \(shape($0.value))" }.joined(separator: " ") + "}"
    case .unreadable: return "unreadable"
    }
}

@Suite struct YAMLTreeTests {
    @Test(arguments: [
        ("a: no", "{a: ‹no›}"), ("a: 22:00", "{a: ‹22:00›}"), ("a: 012", "{a: ‹012›}"),
        ("a: 0x10", "{a: ‹0x10›}"), ("a: 1_000", "{a: ‹1_000›}"), ("a: 2026-01-05", "{a: ‹2026-01-05›}"),
        ("on: x", "{on: ‹x›}"), ("a: ~", "{a: ‹~›}"), ("a:", "{a: ‹›}"), ("", "nothing"),
        ("# only a comment\n", "nothing"), ("a: [x, y]\nb: {c: d}", "{a: [‹x› ‹y›] b: {c: ‹d›}}"),
        ("a: |\n  one\n  two\n", "{a: ‹one\ntwo\n›}"), ("a: >-\n  one\n  two\n", "{a: ‹one two›}"),
        ("a: \"x\\u200By\"", "{a: ‹x\u{200B}y›}"), ("a: 'it''s'", "{a: ‹it's›}"),
        ("\u{FEFF}a: b", "{a: ‹b›}"), ("a: b\r\nc: d\r\n", "{a: ‹b› c: ‹d›}"),
        ("a: &x [1]\nb: *x", "{a: [‹1›] b: [‹1›]}"),
    ])
    func `a scalar is its text and nothing is guessed`(_ text: String, _ expected: String) {
        let document = read(text)
        #expect(document.errors == [])
        #expect(shape(document.root) == expected)
    }

    @Test func `every node knows its line and column in code points`() throws {
        let document = read("é: x\nlist:\n  - ü: [a, \"b\"]\n")
        let list = try #require(document.root?["list"]?.items?.first)
        #expect(document.root?["é"]?.place == YAMLPlace(line: 1, column: 4))
        #expect(list.place == YAMLPlace(line: 3, column: 5))
        let items = try #require(list["ü"]?.items)
        #expect(items.map(\.place) == [YAMLPlace(line: 3, column: 9), YAMLPlace(line: 3, column: 12)])
        #expect(items.map(\.end) == [YAMLPlace(line: 3, column: 10), YAMLPlace(line: 3, column: 15)])
    }

    @Test func `a scalar knows the comment behind it`() {
        let root = read("a: 50% off # half\nb: #lobby\nc: x#y\nd: \"q\" # r\n").root
        #expect(root?["a"]?.comment == "# half")
        #expect(root?["b"]?.comment == "#lobby")
        #expect(root?["b"]?.isEmpty == true)
        #expect(root?["c"]?.comment == nil)
        #expect(root?["d"]?.comment == "# r")
    }

    @Test func `the excerpt has a caret below the place`() {
        let source = read("rules:\n\tdö日: x\n").source
        #expect(
            source.excerpt(at: YAMLPlace(line: 2, column: 5)) == "    \tdö日: x\n    \t    ^")
        let long = read("a: " + String(repeating: "x", count: 300) + "y").source
        let lines = long.excerpt(at: YAMLPlace(line: 1, column: 304)).split(separator: "\n")
        #expect(lines[0].last == "y")
        #expect(lines[1].count == lines[0].count)
    }
}
