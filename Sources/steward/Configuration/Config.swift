internal import Chat
internal import Services
internal import YAML

/// What `config.yaml` says, checked.
struct Config: Sendable {
    /// Where relative paths of rules and secrets begin: the folder of the file.
    var folder: String
    /// Where relative paths of stores begin: systemd's state directory, else the same folder.
    var stateFolder: String
    var server: ServerBlock?
    var accounts: [Account]
    /// Not ready without these.
    var require: Set<String>
    /// Nil keeps everything in memory.
    var store: String?
    /// How long events stay in the store; nil: they do not.
    var keepEvents: Duration?
    /// How long what people wrote stays with cases.
    var keepEvidence: Duration
    /// What it is sealed with; nil: with a key in a file beside the store.
    var storageKey: Secret?
    /// Why that one could not be read, where it is not needed in any case.
    var unreadKey: String?
    var limits: LimitsBlock
    /// The channel where staff are told what steward itself has to say.
    var reportTo: String?
    var plugins: [any Plugin]
    var bots: String
    var logLevel: Log.Level
    var channels: [String: [String: String]]
    var roles: [String: RoleBlock]
    /// What is in the ban lists that accounts follow.
    var policies = PolicyLists()
    /// What the parts that need a restart said, to tell whether they changed.
    var fixed: [String: String]

    struct Account: Sendable {
        var name: String
        /// `twilio`, `matrix`, …
        var service: String
        var settings: any ServiceSettings
    }

    /// The keys that differ from another reading of the file and cannot change while steward runs.
    func changedKeys(since other: Config) -> [String] {
        Set(fixed.keys).union(other.fixed.keys).filter { fixed[$0] != other.fixed[$0] }.sorted()
    }

    /// `server:` – the built-in chat server.
    struct ServerBlock: Decodable, Sendable {
        var listen: String?
        var state: String?
        var keep: Int?
        var admins: [String]?
        /// Unique names of channels that only members and admins see.
        var `private`: [String]?
        /// What a token costs when the server listens for other machines.
        var secret: GivenSecret?
        /// What Sendbird's clients call the application.
        var app: String?
        /// What Sendbird's Platform API asks for, and what webhooks are signed with.
        var api_token: GivenToken?
        /// Switches on the faults that tests inject.
        var faults: Bool?
    }

    /// A secret that is not known to whoever says nothing.
    struct GivenSecret: Decodable, Sendable {
        var secret: Secret

        init(from decoder: any Decoder) throws {
            secret = try decoder.singleValueContainer().decode(Secret.self)
            guard !secret.reveal().isEmpty else {
                throw SettingsMistake("the server's secret is empty - give it a value, or delete the line")
            }
        }
    }

    /// The same of a token.
    struct GivenToken: Decodable, Sendable {
        var secret: Secret

        init(from decoder: any Decoder) throws {
            secret = try decoder.singleValueContainer().decode(Secret.self)
            guard !secret.reveal().isEmpty else {
                throw SettingsMistake("the server's api_token is empty - give it a value, or delete the line")
            }
        }
    }

    /// `limits:`
    struct LimitsBlock: Decodable, Sendable {
        var answers_per_event: Int?
        var stale_after: Duration?
        var behind: Int?
        var bans: CeilingText?
        var kicks: CeilingText?
        var deletions: CeilingText?
    }

    /// `storage:`
    struct StorageBlock: Decodable, Sendable {
        var file: String?
        /// How long events stay in the store, for `steward replay`.
        var keep_events: Duration?
        /// How long what people wrote stays with cases, sealed.
        var keep_evidence: Duration?
        /// The secret that it is sealed with.
        var key: SealingSecret?
    }

    /// Long enough that nobody can guess it.
    struct SealingSecret: Decodable, Sendable {
        var secret: Secret

        init(from decoder: any Decoder) throws {
            secret = try decoder.singleValueContainer().decode(Secret.self)
            guard secret.reveal().utf8.count >= EvidenceKey.leastBytes else {
                throw SettingsMistake(
                    "the key of the store has fewer than \(EvidenceKey.leastBytes) bytes - take a longer one, or delete the line and steward makes one"
                )
            }
        }
    }

    /// `log:`
    struct LogBlock: Decodable, Sendable {
        var level: Level?

        enum Level: String, Decodable, Sendable, CaseIterable { case debug, info, warning, error }
    }

    /// One role: the service's words for it in each account, and single users.
    struct RoleBlock: Decodable, Sendable {
        var words: [String: Set<String>] = [:]
        var users: Set<String> = []

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: AnyKey.self)
            let ofUsers = AnyKey(stringValue: "users")
            users = Set(try keys.decodeIfPresent([String].self, forKey: ofUsers) ?? [])
            for key in keys.allKeys where key.stringValue != ofUsers.stringValue {
                words[key.stringValue] = Set(try keys.decode(OneOrMore.self, forKey: key).texts)
            }
        }
    }

    /// Text, or a list of texts.
    struct OneOrMore: Decodable, Sendable {
        var texts: [String]

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            let isText = CodingUserInfoKey.isText.flatMap { decoder.userInfo[$0] as? Bool } == true
            texts = isText ? [try value.decode(String.self)] : try value.decode([String].self)
        }
    }
}

/// A key that may be any word.
struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A mistake in a value, in words for the person who wrote it.
struct SettingsMistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
