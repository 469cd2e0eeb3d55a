import Chat
import Glibc
import Testing

@testable import Rules

/// Where a link leads, however it is written.
@Suite struct DisguisedHosts {
    private func isRemoved(_ text: String, by links: String) throws -> Bool {
        let scene = try Scene(
            rule: "    when: [messageAdded, messageEdited]\n    if: {links: \(links)}\n    do: [delete]\n")
        return scene.say(text) == ["delete general"]
    }

    @Test(arguments: [
        "https://good.org", "HTTPS://GOOD.ORG", "https://good.org.", "https://good.org./x",
        "https://good.org:8443",
        "https://good.org.:443/", "https://ana:secret@good.org/x", "https://sub.Good.Org",
        "https://a.b.c.good.org",
        "good.org", "See Good.org.", "(good.org)", "www.good.org/x", "https://good。org", "https://ｇｏｏｄ．ｏｒｇ",
        "https://good.org?next=https://evil.net", "https://good.org/https://evil.net/x",
        "https://good.org#evil.net",
        "https:/good.org", "//good.org/x", "<https://good.org>", "[evil](https://good.org)",
        "“https://good.org”", "‘https://good.org’", "„https://good.org“ ja", "«https://good.org»",
        "https://good.org…",
        "https://good.org...", "https://good.org，好", "https://good.org、次", "（https://good.org）。",
        "「https://good.org」です",
        "https://good.org؟", "https://good.org’s page", "[https://good.org]: here", "[https://good.org:80]",
        "https://good.org—yes",
        "https://good.org:8443”", "https://good.org👍🏽", "https://good.org❤️ nice", "_https://good.org_",
        "https://good.org~",
        "https://good.org。。", "“https://good.org”.Then we", "https://good.org？x=1", "“https://good.org”@ana",
        "“https://good.org”的50%",
    ])
    func `a link to a host that is allowed stays, however it is written`(_ text: String) throws {
        #expect(try !isRemoved(text, by: "{hosts_not_in: [good.org]}"))
        #expect(try isRemoved(text, by: "{hosts_in: [good.org]}"))
    }

    @Test(arguments: [
        "https://good.org.evil.net", "https://good.org.evil.net./", "https://xgood.org", "https://goodxorg",
        "https://good.org-evil.net", "https://good.org_.evil.net", "https://good.orgevil",
        "https://good.org.uk",
        "https://good.org@evil.net", "https://good.org:80@evil.net", "https://good.org%2eevil.net",
        "https://good.org。evil.net", "https://good.org．evil.net", "https://good.org\u{200B}.evil.net",
        "https://evil.net/good.org", "https://evil.net?good.org", "https://evil.net#good.org",
        "https://evil.net\\@good.org", "https://evil.net%2f@good.org%2f", "https://evil.net\u{FF0F}good.org",
        "good.org.evil.net", "evil.net/good.org", "https://gооd.org", "https://xn--gd-fmca.org",
        "https://127.0.0.1",
        "https://[::1]/", "https://good", "https://org", "ftp://evil.net", "myapp://evil.net",
        "https://good.org”.evil.net", "https://good.org”@evil.net", "https://good.org’x.evil.net",
        "https://good.org❤.evil.net",
        "https://good.org”@[::1]/", "https://good.org”@16843009", "https://good.org”❤.evil.net",
        "https://good.org…evil.net",
        "https://good.org]@evil.net", "https://good.org—evil.net", "https://good.org”%2eevil.net",
        "https://good.org”。evil.net",
        "https://good.org_evil%2enet", "https://good.org😀\u{2488}evil\u{2488}net",
        "https://good.org_evil.net", "https://good.org·evil.net",
    ])
    func `a link to another host is not taken for one that is allowed`(_ text: String) throws {
        #expect(try isRemoved(text, by: "{hosts_not_in: [good.org]}"))
        #expect(try !isRemoved(text, by: "{hosts_in: [good.org], count: 2+}"))
    }

    @Test(arguments: [
        "https://EVIL.NET", "https://evil.net.", "https://evil%2Enet", "https://a.evil.net",
        "https://good.org@evil.net",
        "//evil.net/x", "https:\\\\evil.net\\x", "https:/\\evil.net", "https:/evil.net", "https:///evil.net",
        "http:evil.net", "[good.org](https://evil.net)", "[a](https://good.org)[b](https://evil.net)",
        "https://good.org,https://evil.net", "https://good.org;https://evil.net",
        "https://good.org|https://evil.net",
        "https://good.org/x,https://evil.net", "(https://good.org)(https://evil.net)",
        "https://ev\u{AD}il.net",
        "https://e\u{200D}vil.net", "https://evil。net", "evil.net", "EVIL.NET", "evil.net:80", "www.evil.net",
        "see evil.net, or not", "you\u{200B}https://evil.net", "x\u{202E}https://evil.net",
        "`https://evil.net`",
        "> https://evil.net",
        "“https://evil.net”", "https://evil.net…", "https://evil.net）。", "https://evil.net’s",
        "[https://evil.net]:", "https://evil.net🔥",
        "https://x”.evil.net", "https://x”@evil.net", "https://x”y.evil.net", "https://x”❤.evil.net",
        "https://x”%2eevil.net",
        "https://x”y。evil。net", "https://“evil.net", "https://”.evil.net”", "https://good.org‐x.evil.net",
        "https://a.b❤.evil.net",
    ])
    func `a link to a host that is forbidden is found, however it is written`(_ text: String) throws {
        #expect(try isRemoved(text, by: "{hosts_in: [evil.net]}"))
        #expect(try isRemoved(text, by: "{hosts_not_in: [good.org]}"))
    }

    @Test(arguments: [
        "omg..what", "well...evil", "end.Next", "a.b", "1.5", "v1.2.3", "e.g.", "notevil.network",
        "evil.nets",
        "my-evil.netting", "evil. net", "evil .net", "C:\\evil\\net", "12:30:evil", "ana@evil.net",
        "evil,net",
    ])
    func `what only resembles a forbidden host is left alone`(_ text: String) throws {
        #expect(try !isRemoved(text, by: "{hosts_in: [evil.net]}"))
    }

    @Test(arguments: [
        "evil(dot)net", "evil (dot) net", "evil [.] net", "evil{.}net", "evil DOT net", "evil[dot]net/x",
    ])
    func `dots that are spelled out are found when the rule asks for it only`(_ text: String) throws {
        #expect(try !isRemoved(text, by: "{hosts_in: [evil.net]}"))
        #expect(try isRemoved(text, by: "{hosts_in: [evil.net], fold: loose}"))
    }

    @Test(arguments: [
        "a.", "a.b ", "http://", "http://a,", "http://”.", "http://a”.b@", "”.", "http://a.“[",
        "://", "a:/", "[.]", " dot ", "www.", "@a.", "xn--", "。a.",
    ])
    func `no text makes looking at its links slow`(_ piece: String) throws {
        let scene = try Scene(
            rule: """
                    when: [messageAdded, messageEdited]
                    if: {any: [{links: {hosts_in: [evil.net], fold: loose}}, {links: {hosts_not_in: [a.org], count: 9+}}]}
                    do: [delete]
                """.indented)
        let text = String(String(repeating: piece, count: 32_768).prefix(32_768))
        #expect(processorTime { _ = scene.say(text) } < .seconds(2))
    }
}

/// How long this thread was at work, whatever else the machine does meanwhile.
func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
}
