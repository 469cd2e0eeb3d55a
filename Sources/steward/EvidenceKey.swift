internal import Chat
internal import Crypto
internal import Engine
internal import FoundationEssentials
internal import Glibc

/// The key that seals what people wrote: `storage.key` of the configuration, or a file beside the store that only its
/// owner can read.
enum EvidenceKey {
    /// How long texts are kept unless the configuration says otherwise.
    static let usualKeep = Duration.seconds(30 * 86_400)
    static let leastBytes = 16

    private static let purpose = "steward evidence"

    /// For a steward that works: the file is made when it is missing. Nil when no texts are to be kept.
    static func keeping(_ config: Config, _ log: Log) async throws -> EvidenceKeeping? {
        guard config.keepEvidence > .zero else { return nil }
        guard let store = config.store.map(config.statePath) else { return keeping(randomBytes(32), config) }
        let file = keyFile(store)
        let secret: [UInt8]
        var wayOut = "write the one of before under \"storage.key\""
        if let given = config.storageKey {
            secret = Array(given.reveal().utf8)
        } else {
            if access(file, F_OK) != 0 {
                try make(file)
                log.info("made \(file): whoever backs up the store needs it to read the texts of cases")
            }
            secret = try read(file)
            wayOut = "bring \(file) back from a copy before more are sealed, and start again"
        }
        let made = keeping(secret, config)
        let count = try await closed(made, in: store)
        if count > 0 {
            log.warning(
                "the texts of \(counted(count, "case")) were sealed with another key and stay closed - \(wayOut); if it is lost, leave it: they go with their time"
            )
        }
        return made
    }

    /// Of how many cases the key does not open the texts.
    private static func closed(_ keeping: EvidenceKeeping?, in store: String) async throws -> Int {
        guard let keeping else { return 0 }
        let journal = try await SQLiteJournal.openForReading(store)
        let rows = try? await journal.rows(of: .evidence)
        await journal.close()
        return rows?.count { keeping.opened($0.body, of: $0.key.key) == nil } ?? 0
    }

    /// For who only looks: nil where there is no key. Throws for one that cannot be used.
    static func forReading(_ config: Config) throws -> EvidenceKeeping? {
        if let why = config.unreadKey {
            throw KeyMistake("the key of the store (\"storage.key\") cannot be read: \(why)")
        }
        if let given = config.storageKey { return keeping(Array(given.reveal().utf8), config) }
        guard let store = config.store.map(config.statePath), access(keyFile(store), F_OK) == 0 else {
            return nil
        }
        return keeping(try read(keyFile(store)), config)
    }

    private static func keyFile(_ store: String) -> String { store + ".key" }

    private static func keeping(_ secret: [UInt8], _ config: Config) -> EvidenceKeeping? {
        guard let seal = Seal(secret: secret, purpose: purpose) else { return nil }
        return EvidenceKeeping(
            keep: config.keepEvidence, seal: { seal.seal($0, context: $1) },
            open: { try? seal.open($0, context: $1) })
    }

    /// The key, on the disk before it is used.
    private static func make(_ file: String) throws {
        let opened = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw KeyMistake(
                "\(file): the key of the store cannot be made - let user \(getuid()) write there")
        }
        defer { close(opened) }
        let bytes = Array((Hex.encode(randomBytes(32)) + "\n").utf8)
        guard write(opened, bytes, bytes.count) == bytes.count, fsync(opened) == 0 else {
            unlink(file)
            throw KeyMistake("\(file): the key of the store cannot be written - make room there")
        }
    }

    private static func read(_ file: String) throws -> [UInt8] {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyMistake(
                "\(file): this is no file - bring the key of the store back from a copy; if there is none, move it away, and what was sealed stays closed"
            )
        }
        guard let bytes = try? Data(contentsOf: URL(filePath: file)) else {
            throw KeyMistake("\(file): the key of the store cannot be read - run as its owner")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw KeyMistake(
                "\(file): others can read the key of the store - take that right away: chmod 600 \(file)")
        }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        guard let key = Hex.decode(text), key.count == 32 else {
            throw KeyMistake(
                "\(file): this is no key of steward's - bring it back from a copy; if there is none, delete it, and what was sealed stays closed"
            )
        }
        return key
    }
}

/// The key of the store cannot be used: until somebody sees to it, starting again cannot help.
struct KeyMistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
