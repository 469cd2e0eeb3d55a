internal import Unicode

/// Conditions on links, and what they need of an event.
extension RuleCompiler {
    func checkHasMessage(_ rule: BotRule, at spot: Spot) {
        let events = rule.when.map(\.value)
        if !events.isEmpty, !events.contains(where: \.hasText) {
            findings.error("\(rule.eventNames) has no message to look at", at: spot)
        }
    }

    func compile(_ links: BotLinks, of rule: BotRule) -> Condition {
        checkHasMessage(rule, at: links.spot)
        let hostsIn = links.hostsIn.map(resolved)
        let hostsNotIn = links.hostsNotIn.map(resolved)
        let test = LinkTest(links, hostsIn: hostsIn.map(hosts), hostsNotIn: hostsNotIn.map(hosts))
        guard let hostsIn, let names = test.hostsIn, !links.isLoose, test.span.least ?? 0 > 0 else {
            return .links(test)
        }
        let number = Int32(probes.count)
        probes.append(Probe(kind: .hosts, words: hostsIn, fields: [.body], lanes: []))
        // Few messages have links at all.
        sizes.append(1)
        for name in names { self.hosts[name, default: []].append(number) }
        return .hosts(test, number)
    }

    /// The hosts of a list in the form in which they are compared.
    private func hosts(_ words: [Placed<String>]) -> Set<String> {
        var hosts: Set<String> = []
        for word in words {
            var written = word.value
            if written.hasPrefix("*.") {
                findings.error(
                    "\"\(written.shortened)\" is not a host", at: word.spot,
                    hint: "write \"\(written.dropFirst(2))\", which covers its sub-domains")
                continue
            }
            if written.last == "." { written.removeLast() }
            if let host = asciiHost(written), !written.contains("/"), !written.contains(":") {
                hosts.insert(host)
            } else {
                let bare = written.split(separator: "/").map(String.init).first { $0.contains(".") }
                    .flatMap { $0.split(separator: ":").first.map(String.init) }
                findings.error(
                    "\"\(written.shortened)\" is not a host", at: word.spot,
                    hint: bare.map { "write \"\($0)\"" } ?? "write it as in \"example.org\"")
            }
        }
        return hosts
    }
}
