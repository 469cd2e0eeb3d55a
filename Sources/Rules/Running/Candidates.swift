/// The rules that one look at an event makes worth asking, and what it was that was found.
struct Candidates {
    /// In the order in which they were found, until they are sorted.
    private(set) var rules: [Int32] = []
    /// For each probe the number of the look that found it last.
    private var found: [UInt32]
    /// For each rule the number of the look that made it a candidate last.
    private var asked: [UInt32]
    private var look: UInt32 = 0

    init(probes: Int, rules: Int) {
        found = Array(repeating: 0, count: probes)
        asked = Array(repeating: 0, count: rules)
    }

    var isEmpty: Bool { rules.isEmpty }

    mutating func begin() {
        if !rules.isEmpty { rules.removeAll(keepingCapacity: true) }
        if look == .max {
            found = Array(repeating: 0, count: found.count)
            asked = Array(repeating: 0, count: asked.count)
            look = 0
        }
        look += 1
    }

    func isFound(_ probe: Int32) -> Bool { found[Int(probe)] == look }

    /// The probe is found, and with it the rules that wait for it.
    mutating func note(_ probe: Int32, _ set: RuleSet) {
        found[Int(probe)] = look
        for index in Int(set.firstTriggered[Int(probe)])..<Int(set.firstTriggered[Int(probe) + 1]) {
            add(set.triggered[index])
        }
    }

    mutating func add(_ rule: Int32) {
        guard asked[Int(rule)] != look else { return }
        asked[Int(rule)] = look
        rules.append(rule)
    }

    /// Rules that nothing else can have made candidates.
    mutating func add(contentsOf more: [Int32]) { rules += more }

    mutating func sort() {
        if rules.count > 1 { rules.sort() }
    }
}
