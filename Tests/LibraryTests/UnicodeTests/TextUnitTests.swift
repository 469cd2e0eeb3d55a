import Testing

@testable import Unicode

@Suite struct LengthsOfTexts {
    @Test(arguments: [
        ("hello", [5, 5, 5, 5]),
        ("é👍🏽", [2, 5, 10, 3]),
        ("👨\u{200D}👩\u{200D}👧", [1, 8, 18, 5]),
        ("🇳🇴", [1, 4, 8, 2]),
        ("a\r\nb", [3, 4, 4, 4]),
        ("", [0, 0, 0, 0]),
    ])
    func `each service counts in its own unit`(_ text: String, _ lengths: [Int]) {
        #expect(TextUnit.allCases.map { text.length(in: $0) } == lengths)
    }

    @Test(arguments: [
        ("hello", 3, TextUnit.graphemes, "hel"),
        ("a👍🏽b", 4, .utf16, "a"),
        ("a👍🏽b", 5, .utf16, "a👍🏽"),
        ("éé", 3, .utf8, "é"),
        ("e\u{301}e\u{301}", 3, .scalars, "e\u{301}"),
        ("hello", 9, .utf8, "hello"),
        ("hello", 0, .graphemes, ""),
        ("héllo", -1, .utf16, ""),
    ])
    func `a text is cut between letters people see`(
        _ text: String, _ limit: Int, _ unit: TextUnit, _ cut: String
    ) {
        #expect(text.prefix(limit, in: unit) == cut)
    }
}

@Suite struct HostNames {
    @Test(arguments: [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ。org", "example.org"),
        ("straße.de", "xn--strae-oqa.de"),
        ("my_host.local", "my_host.local"),
        ("127.0.0.1", "127.0.0.1"),
    ])
    func `hosts are compared in ASCII and lower case`(_ host: String, _ ascii: String) {
        #expect(asciiHost(host) == ascii)
    }

    @Test(arguments: [
        "", ".", "a..b", "a b", "exa\u{200D}mple.org", "xn--\u{7F}.org", "a/b",
        String(repeating: "a", count: 3_000),
    ])
    func `what is no host is none`(_ host: String) {
        #expect(asciiHost(host) == nil)
    }
}

@Suite struct Scripts {
    @Test(
        arguments: [("a", "Latn"), ("ж", "Cyrl"), ("你", "Hani"), ("か", "Hira"), ("1", "Zyyy"), ("ไ", "Thai")]
            as [(UnicodeScalar, String)])
    func `a scalar has a script`(_ scalar: UnicodeScalar, _ script: String) {
        #expect(Script(of: scalar).description == script)
    }
}
