internal import Chat
internal import SQLite

/// The world in a file: as it was told, so it is found again, with the same names, indexes and event ids.
final class WorldStore: Sendable {
    let database: Database

    private init(_ database: Database) {
        self.database = database
    }

    /// Opens or makes the file, and keeps it from other servers until `close`.
    static func open(_ file: String) async throws -> WorldStore {
        do {
            return try await opened(file)
        } catch let error as DatabaseError where error.kind == .busy {
            throw ChatServer.StartError(
                description:
                    "\(file): another chat server works on this file - stop it, or name another file for the state"
            )
        }
    }

    private static func opened(_ file: String) async throws -> WorldStore {
        let database = try await Database.open(file)
        do {
            try await database.run { connection in
                // Two servers on one file would each tell what the other does not know.
                try connection.run("PRAGMA locking_mode = EXCLUSIVE")
                try connection.migrate([schema, numbering])
                try connection.run(
                    "INSERT OR REPLACE INTO names VALUES ('opened', ?)", [.text(Timestamp.now.text)])
            }
        } catch {
            await database.close()
            throw error
        }
        return WorldStore(database)
    }

    func close() async {
        await database.close()
    }

    /// The service's names and key: those given, else those of the file, else new ones, which the file then keeps.
    func names(_ given: ServiceNames?) async throws -> ServiceNames {
        try await database.transaction { connection in
            let kept = try connection.first("SELECT value FROM names WHERE name = 'service'") { $0.blob(0) }
            let names = given ?? kept.flatMap(ServiceNames.init(record:)) ?? .fresh()
            try connection.run("INSERT OR REPLACE INTO names VALUES ('service', ?)", [.blob(names.record)])
            return names
        }
    }

    /// All of these changes, or none.
    func write(_ changes: [WorldChange]) async throws {
        try await database.transaction(whenCancelled: .finishes) { connection in
            var writer = ChangeWriter(connection: connection)
            for change in changes { try writer.write(change) }
            try writer.finish()
        }
    }

    /// Everything, read into a world that has nothing yet but what the configuration says.
    func load(into empty: World) async throws -> World {
        try await database.transaction(.read) { connection in
            try WorldReader(connection: connection).world(from: empty)
        }
    }

    func content(of media: SID) async throws -> [UInt8]? {
        try await database.run { connection in
            try connection.first("SELECT content FROM media WHERE sid = ?", [.text(media.text)]) {
                $0.blob(0)
            }
        }
    }

    /// Messages are numbered all through, in the order in which they were written.
    private static let numbering = """
        UPDATE messages
        SET record = CAST(json_set(CAST(messages.record AS TEXT), '$.number', counted.number) AS BLOB)
        FROM (
            SELECT channel, place, row_number() OVER (
                ORDER BY json_extract(CAST(record AS TEXT), '$.posted'), channel, place
            ) AS number
            FROM messages
        ) AS counted
        WHERE messages.channel = counted.channel AND messages.place = counted.place;
        """

    private static let schema = """
        CREATE TABLE names (name TEXT PRIMARY KEY, value BLOB NOT NULL);
        CREATE TABLE users (sid TEXT PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE memberships (
            owner TEXT NOT NULL, channel TEXT NOT NULL, record BLOB NOT NULL, PRIMARY KEY (owner, channel)
        ) WITHOUT ROWID;
        CREATE TABLE channels (sid TEXT PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE members (sid TEXT PRIMARY KEY, channel TEXT NOT NULL, record BLOB NOT NULL);
        CREATE INDEX members_of_channel ON members (channel);
        CREATE TABLE messages (
            channel TEXT NOT NULL, place INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (channel, place)
        ) WITHOUT ROWID;
        -- What happened in each feed. A message's own events have no record while the message is there.
        CREATE TABLE events (
            topic INTEGER NOT NULL, owner TEXT NOT NULL, id INTEGER NOT NULL, kind INTEGER NOT NULL,
            at INTEGER NOT NULL, place INTEGER, record BLOB, PRIMARY KEY (topic, owner, id)
        ) WITHOUT ROWID;
        CREATE TABLE media (sid TEXT PRIMARY KEY, record BLOB NOT NULL, content BLOB NOT NULL);
        """
}
