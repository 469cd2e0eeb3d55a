/// A user, channel or stream of one realm. There is one object for each, so comparing two is comparing addresses.
public final class Identity: Sendable, Hashable, CustomStringConvertible {
    /// The service's own id, such as `ana` or `CH0123…`.
    public let text: String
    /// Given once by the `Identities` it came from, never given again.
    package let number: UInt32
    package let realmName: String

    fileprivate init(text: String, number: UInt32, realmName: String) {
        self.text = text
        self.number = number
        self.realmName = realmName
    }

    /// Whether it is the same object; ids of two realms are never equal.
    public static func == (left: Identity, right: Identity) -> Bool { left === right }

    /// By its number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// The service's own id.
    public var description: String { text }
}

/// Who somebody is to their chat service.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
    /// The object behind it, with the realm it is from.
    public let identity: Identity

    /// The service's own id.
    public var text: String { identity.text }
    /// The service's own id.
    public var description: String { identity.text }
}

/// Which channel, by the id its chat service gave it.
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The object behind it, with the realm it is from.
    public let identity: Identity

    /// The service's own id.
    public var text: String { identity.text }
    /// The service's own id.
    public var description: String { identity.text }
}

/// A numbered sequence of events of one service, such as the messages of a channel.
public struct StreamID: Hashable, Sendable, CustomStringConvertible {
    /// The object behind it, with the realm it is from.
    public let identity: Identity

    /// The service's own id.
    public var text: String { identity.text }
    /// The service's own id.
    public var description: String { identity.text }
}

/// One place where ids mean something: a Twilio chat service, a Matrix homeserver, a Sendbird application.
///
/// Two accounts in one realm see the same users and channels, so they share these objects.
public final class Realm: Sendable, Hashable, CustomStringConvertible {
    /// The service's own name for it, such as the chat service SID.
    public let name: String

    private let numbers: Locked<UInt32>
    private let users = Locked(Table())
    private let channels = Locked(Table())
    private let streams = Locked(Table())

    fileprivate init(name: String, numbers: Locked<UInt32>) {
        self.name = name
        self.numbers = numbers
    }

    /// The user of that id: the same object each time, for as long as somebody holds it. Safe to call from anywhere.
    public func user(_ text: String) -> UserID { UserID(identity: identity(text, in: users)) }

    /// The channel of that id, likewise.
    public func channel(_ text: String) -> ChannelID { ChannelID(identity: identity(text, in: channels)) }

    /// The stream of that name, likewise.
    public func stream(_ text: String) -> StreamID { StreamID(identity: identity(text, in: streams)) }

    private func identity(_ text: String, in table: Locked<Table>) -> Identity {
        table.withLock { table in
            table.identity(text) {
                Identity(
                    text: text,
                    number: numbers.withLock {
                        $0 += 1; return $0
                    }, realmName: name)
            }
        }
    }

    /// Whether it is the same object.
    public static func == (left: Realm, right: Realm) -> Bool { left === right }

    /// By its address.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Its name.
    public var description: String { name }

    private struct Table {
        var identities: [String: Identity] = [:]
        var sweepAt = 65_536

        mutating func identity(_ text: String, make: () -> Identity) -> Identity {
            if let known = identities[text] { return known }
            if identities.count >= sweepAt { sweep() }
            let new = make()
            identities[text] = new
            return new
        }

        /// Lets go of what nobody refers to, so that a busy day does not stay in memory.
        private mutating func sweep() {
            var index = identities.values.startIndex
            var unused: [String] = []
            while index != identities.values.endIndex {
                if isKnownUniquelyReferenced(&identities.values[index]) {
                    unused.append(identities.values[index].text)
                }
                identities.values.formIndex(after: &index)
            }
            for text in unused { identities[text] = nil }
            sweepAt = max(65_536, identities.count * 2)
        }
    }
}

/// All realms of a running steward; made once and handed to whoever reads events.
public final class Identities: Sendable {
    private let numbers = Locked<UInt32>(0)
    private let realms = Locked<[String: Realm]>([:])

    /// No realms yet.
    public init() {}

    /// The realm of that name, the same object each time.
    public func realm(_ name: String) -> Realm {
        realms.withLock { realms in
            if let known = realms[name] { return known }
            let new = Realm(name: name, numbers: numbers)
            realms[name] = new
            return new
        }
    }
}
