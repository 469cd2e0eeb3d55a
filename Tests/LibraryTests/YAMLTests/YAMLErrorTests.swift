import Seeds
import Testing

@testable import YAML

@Suite struct YAMLErrorTests {
    @Test(arguments: [
        ("x: {age: > 7d}", "1:10: error: \">\" cannot begin a value - put the value in quotes: \"> 7d\""),
        ("x: [a, @bob]", "1:8: error: \"@\" cannot begin a value - put the value in quotes: \"@bob\""),
        (
            "x: `code` here",
            "1:4: error: \"`\" cannot begin a value - put the value in quotes: \"`code` here\""
        ),
        ("x: %a", "1:4: error: \"%\" cannot begin a value - put the value in quotes: \"%a\""),
        (
            "x: *.zip",
            "1:4: error: \"*\" begins an alias or anchor in YAML - put the value in quotes: \"*.zip\""
        ),
        (
            "x: *bold*",
            "1:4: error: \"*\" begins an alias or anchor in YAML - put the value in quotes: \"*bold*\""
        ),
        (
            "x: *bold",
            "1:4: error: \"*bold\" refers to an anchor that is not in this file - did you mean \"*bold\" in quotes?"
        ),
        (
            "x: foo: bar",
            "1:7: error: \":\" cannot be inside a value without quotes - put the value in quotes: \"foo: bar\""
        ),
        (
            "x: !remind foo",
            "1:4: error: \"!remind foo\" is a tag to YAML, and tags are not used here - did you mean \"!remind foo\" in quotes?"
        ),
        ("x: !!str y", "1:4: error: \"!!str y\" is a tag to YAML, and tags are not used here"),
        (
            "x: {{ user.name }}",
            "1:4: error: a key must be plain text; if this is a template, put the whole value in quotes"
        ),
        (
            "x: {{ user.name }} is here",
            "1:4: error: a template must be quoted - put the whole value in quotes"
        ),
        (
            "x: \"Hello\" there",
            "1:12: error: the value goes on behind its closing quote - put all of it into one pair of quotes"
        ),
        ("a: 1\nb: 2\na: 3", "3:1: error: duplicate key \"a\" - it is at 1:1 already"),
        (
            "a: &x {b: c}\nd: {<<: *x}",
            "2:5: error: \"<<\" is not supported - write the keys out, or share values by lists, vars and groups"
        ),
        (
            "a: b\n---\nc: d",
            "2:1: error: a second document begins here; a file holds one - remove the \"---\""
        ),
        (
            "a: \"b",
            "1:4: error: this quote is not closed - close it on this line, or put the whole value into quotes of the other kind"
        ),
        (
            "a: [\"b, c]\nd: \"e\"",
            "1:5: error: this quote is not closed - close it on this line, or put the whole value into quotes of the other kind"
        ),
        (
            "a:\n  b: c\n   d: e",
            "3:4: error: this begins in column 4, and nothing above does - begin it in column 3"
        ),
        (
            "a:\n    b: c\n  d: e",
            "3:3: error: this begins in column 3, and nothing above does - begin it in column 1"
        ),
        (
            "a:\n  b 10m\n  c: d",
            "2:3: error: there is no \": \" between a key and its value - write \"b: 10m\""
        ),
        (
            "a:\n  do\n    - b: c",
            "2:3: error: there is no \": \" between a key and its value - write \"do:\""
        ),
        (
            #"a: "\bx\b""#,
            #"1:4: error: "\b" is a backspace in double quotes - use single quotes, where "\" is itself"#
        ),
        ("a:\n\t- b", "2:1: error: a tab cannot indent - use spaces"),
        (
            "a: &co x",
            "1:4: warning: \"&co\" names an anchor that nothing refers to - did you mean \"&co x\" in quotes?"
        ),
        ("a: x\u{0}y", "1:5: error: the character U+0000 is not allowed here"),
        (
            "a: [b, c",
            "1:4: error: this bracket is not closed - close it with \"]\""
        ),
        (
            "a: {b: 'it''s [', c: [d]}\ne: 1 # [\nf: {g: [\n\n",
            "3:8: error: this bracket is not closed - close it with \"]\""
        ),
        (
            "a:\n  - {b: c, d\n",
            "2:5: error: this bracket is not closed - close it with \"}\""
        ),
        (
            "a: &a [*a]",
            "1:8: error: \"*a\" refers to an anchor that is not in this file - did you mean \"*a\" in quotes?"
        ),
    ])
    func `what YAML misreads is named with its place and a way out`(_ text: String, _ expected: String) {
        let errors = read(text).errors.filter { !$0.isWarning || expected.contains("warning") }
        #expect(errors.map(\.description) == [expected])
    }

    @Test func `one mistake does not hide the next`() {
        let text = """
            a: [x, @bob]
            b: *.zip
            c: fine
            d: `code`
            e: !remind foo
            f: foo: bar
            c: again
            """
        let document = read(text)
        #expect(document.errors.map(\.place.line) == [1, 2, 4, 5, 6, 7])
        #expect(document.root?["c"]?.text == "fine")
        #expect(document.root?["b"]?.isUnreadable == true)
        #expect(shape(document.root?["a"]) == "[‹x› unreadable]")
    }

    @Test func `bytes that are not UTF-8 are shown with their place`() {
        let document = YAMLDocument.read(Array("a: b\nc: d".utf8) + [0xFF, 0x41])
        #expect(document.errors == [YAMLError(at: YAMLPlace(line: 2, column: 5), "this is not valid UTF-8")])
        #expect(YAMLDocument.read([0xFF, 0xFE, 0x61, 0]).errors.first?.problem == "the file is UTF-16")
    }

    @Test func `aliases stand for ten thousand nodes at most`() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            text +=
                "a\(level): &a\(level) ["
                + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "]\n"
        }
        let errors = read(text).errors.filter { !$0.isWarning }
        #expect(errors.map(\.problem) == ["the aliases of this file stand for more than 10000 nodes"])
    }

    @Test func `nesting has an end`() {
        let document = read("a: " + String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000))
        #expect(document.root == nil)
        #expect(document.errors.map(\.problem) == ["nested deeper than 100 levels"])
    }

    @Test func `random bytes and mutilated files end with a tree or errors`() {
        var random = SeededRandom(seed: 7)
        let good = Array(
            """
            version: 1
            rules:
              a: {when: [messageAdded], if: {text: {has_any: ["x", *b]}}, do: [{reply: "{{ user.name }}"}]}
              b: &b
                do: |
                  text # here
                # comment
                c: !tag 'q'

            """.utf8)
        let alphabet = Array("[]{}:,-#&*!|>'\"%@`\n\t ?ab\\\u{85}\u{2028}é".utf8)
        for _ in 0..<4000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(alphabet.randomElement(using: &random)!, at: index)
                case 2: bytes.remove(at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + 9))
                }
                if bytes.isEmpty { break }
            }
            let document = YAMLDocument.read(bytes)
            #expect(document.root != nil || !document.errors.isEmpty)
            for error in document.errors { _ = document.source.excerpt(at: error.place) }
        }
    }
}
