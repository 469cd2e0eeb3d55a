package import Chat

/// All that memory holds about one user, to be shown to them.
package struct RememberedUser: Sendable {
    package struct Value: Sendable {
        /// The rule or plugin that remembers.
        package var owner: String
        package var name: String
        package var value: MemoryValue
        package var until: Timestamp?
    }

    package var realm: String
    package var user: String
    package var facts = MemberFacts()
    package var values: [Value] = []

    /// Those of `rows` that are about users of that id, a realm each.
    package static func find(_ user: String, in rows: [StoredRow]) -> [RememberedUser] {
        var found: [String: RememberedUser] = [:]
        for row in rows where row.key.key.hasPrefix("u") && row.key.key.hasSuffix("\u{1F}" + user) {
            let realm = String(row.key.key.dropFirst().dropLast(user.count + 1))
            guard !realm.contains("\u{1F}") else { continue }
            var person = found[realm] ?? RememberedUser(realm: realm, user: user)
            if row.key.part.isEmpty {
                person.facts = MemberFactsRow(row.body)?.facts(in: nil) ?? person.facts
            } else if let owner = OwnerRow(row.body, owner: row.key.part) {
                person.values += owner.entries.map {
                    Value(owner: owner.owner, name: $0.name, value: $0.value, until: $0.until)
                }
            }
            found[realm] = person
        }
        return found.values.sorted { $0.realm < $1.realm }
    }
}
