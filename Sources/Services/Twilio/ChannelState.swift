internal import Chat

/// A channel we are in, with its members, as far as it is known.
struct ChannelState {
    private(set) var channel: Channel
    /// Participants by their SIDs.
    private(set) var roster: [String: RosterEntry] = [:]
    private var people = FingerprintTable<Person>()
    /// Since when we are in it: what is older is history. Nil when unknown.
    private(set) var since: Timestamp?
    /// We were removed and are about to leave.
    private var isOut = false
    private let own: UserID
    /// When its document was last changed, as a Sync event number.
    var documentVersion: Int64 = -1
    /// Its Sync objects, as places in the book.
    var streams: [Int] = []
    /// A destroyed channel needs no look whether it is there still.
    var isDestroyed = false

    init(channel: Channel, own: UserID) {
        self.channel = channel
        self.own = own
    }

    /// With the identity beside it: to compare it takes no look at memory far away.
    private struct Person {
        let identity: String
        let member: Member
    }

    /// The member of that name; nil when it is not in the roster.
    func member(_ identity: String) -> Member? {
        var identity = identity
        return identity.withUTF8 { member($0) }
    }

    /// The same by the name's bytes.
    func member(_ identity: UnsafeBufferPointer<UInt8>) -> Member? {
        guard let known = people[Fingerprint(identity)] else { return nil }
        // Fingerprints are not made against people who look for two equal ones.
        var name = known.identity
        return name.withUTF8 { $0.count == identity.count && $0.elementsEqual(identity) } ? known.member : nil
    }

    /// The names of all but one; nil when nobody else is there.
    private func others(than user: UserID) -> String? {
        let names = roster.values.map(\.member).filter { $0.user != user }.map(\.name).sorted()
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// What it is like now. A direct channel is called by who else is in it: its title names us, too.
    mutating func describe(as channel: Channel) {
        var channel = channel
        if channel.isDirect, let others = others(than: own), others != channel.title {
            channel.title = others
        }
        self.channel = channel
    }

    private mutating func count() {
        var channel = channel
        channel.memberCount = roster.count
        describe(as: channel)
    }

    mutating func set(_ entry: RosterEntry) {
        roster[entry.key] = entry
        enter(entry.member)
        if entry.member.user == own {
            since = entry.member.joinedAt
            isOut = false
        }
        count()
    }

    private mutating func enter(_ member: Member) {
        let identity = member.user.text
        people[Fingerprint(identity)] = Person(identity: identity, member: member)
    }

    /// A member has another name now.
    mutating func call(_ user: UserID, _ name: String) {
        guard var member = member(user.text) else { return }
        member.name = name
        enter(member)
        for (key, entry) in roster where entry.member.user == user { roster[key]?.member.name = name }
        describe(as: channel)
    }

    mutating func remove(_ key: String) {
        guard let entry = roster.removeValue(forKey: key) else { return }
        people[Fingerprint(entry.member.user.text)] = nil
        if entry.member.user == own { isOut = true }
        count()
    }

    /// Whether something happened while we were not here. By the service's clock; but if we joined in what is the future by
    /// ours, `now`, one of them was set back, and then nothing that comes may be taken for history until it has caught up.
    func isMissed(_ moment: Timestamp, now: Timestamp? = nil) -> Bool {
        guard !isOut, let since, moment < since else { return isOut }
        return now.map { since <= $0 + .seconds(60) } ?? true
    }
}
