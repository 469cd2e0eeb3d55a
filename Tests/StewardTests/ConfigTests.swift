import Chat
import ChatServer
import Engine
import Foundation
import Glibc
import Services
import Testing

@testable import steward

@Suite struct Configuration {
    func mistakes(_ text: String, environment: [String: String] = [:]) -> String {
        do {
            _ = try ConfigReader.read(Array(text.utf8), file: "config.yaml", environment: environment)
            return ""
        } catch {
            return error.mistakes.map { mistake in
                "\(mistake.place): \(mistake.problem)" + (mistake.hint.map { " - \($0)" } ?? "")
            }.joined(separator: "\n")
        }
    }

    @Test func `all mistakes of a file show at once, each at its place`() {
        let text = """
            acounts: {}
            storage: {fil: state.db}
            log: {level: loud}
            limits: {stale_after: 10y, behind: many}
            plugins:
              last-sen: {}
              last-seen: {settings: {keep: 1s, kep: 3}}
            bots:
            """
        #expect(
            mistakes(text) == """
                1:1: unknown key "acounts" - did you mean "accounts"?
                1:1: "accounts" is missing - name at least one account
                2:11: unknown key "fil" - did you mean "file"?
                3:14: "loud" is not known here - use debug, info, warning or error
                4:23: "10y" is not a duration - try "10m"
                4:36: "many" is not a whole number
                6:3: unknown plugin "last-sen" - did you mean "last-seen"?
                7:25: keep must be at least 1m
                7:36: unknown key "kep" - did you mean "keep"?
                8:6: "bots" has no value - give it one, or delete the line
                """)
    }
}

@Suite struct PluginsOfTheConfiguration {
    @Test func `a plugin in another program is not built yet, whatever it is called`() {
        let text = """
            accounts: {it: {service: twilio, identity: b, token: {url: "http://h"}}}
            plugins:
              helper: {program: /usr/lib/helper, may: [reply, react], settings: {}}
              last-seen: {program: /usr/lib/helper}
              other: {settings: {}}
              last-seeen: {setings: {}}
            """
        #expect(
            Configuration().mistakes(text) == """
                3:12: plugins in another program are not built yet
                4:15: plugins in another program are not built yet
                5:3: unknown plugin "other" - linked in: last-seen
                6:3: unknown plugin "last-seeen" - did you mean "last-seen"?
                """)
    }
}

@Suite struct AccountsOnSendbird {
    private func mistakes(_ account: String, environment: [String: String] = [:]) -> String {
        let lines = account.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        let text = "accounts:\n  it:\n    service: sendbird\n" + lines + "\n"
        return Configuration().mistakes(text, environment: environment)
    }

    @Test func `mistakes show at their places, each with the way out`() {
        #expect(
            mistakes(
                """
                app: "not an id"
                user: ""
                token: {sign: {account: AC1, key: SK1, secret: "${env:S}", service: IS1}}
                endpoint: "ws://127.0.0.1:8000/?x=1"
                join: [room, ""]
                session: 1h
                """, environment: ["S": "secret"]) == """
                    4:10: "not an id" is not an application id - it stands in Sendbird's dashboard: letters, digits and hyphens
                    5:11: an empty value has not 1 to 80 characters
                    6:19: this makes tokens for Twilio - write api_token, and Sendbird's Platform API gives session tokens
                    7:15: "ws://127.0.0.1:8000/?x=1" has more than an address - write ws://127.0.0.1:8000
                    8:18: an empty value has not 1 to 100 characters
                    9:14: "1h" needs api_token - session tokens come from the Platform API
                    """)
        #expect(
            mistakes("app: APP\nuser: bot\ntoken: abc\napi_token: def\nendpoint: \"http://here\"\nbot: [x]")
                == """
                6:12: a secret must not stand in the configuration - put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}
                7:16: a secret must not stand in the configuration - put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}
                8:15: "http://here" does not begin with ws:// or wss:// - write ws://HOST
                9:5: unknown key "bot" - did you mean "bots"?
                """)
        #expect(mistakes("user: bot") == "3:5: \"app\" is missing")
    }

    @Test func `a token may be a reference, a source or not there`() throws {
        for (token, isFine) in [
            ("token: ${env:T}", true), ("token: {url: \"http://127.0.0.1/token\"}", true),
            ("api_token: ${env:T}", true), ("", true), ("token: {file: }", false),
        ] {
            let found = mistakes("app: \(Self.app)\nuser: bot\n\(token)", environment: ["T": "secret"])
            #expect(found.isEmpty == isFine, "\(token): \(found)")
        }
    }

    private static let app = "01234567-89AB-CDEF-0123-456789ABCDEF"

    @Test func `an application of Sendbird's has a UUID, one of another address any name`() {
        #expect(
            mistakes("app: nonsense\nuser: bot") == """
                4:10: "nonsense" is not an application id of Sendbird - it stands in its dashboard: 32 hex digits in five groups with hyphens
                """)
        #expect(mistakes("app: \(Self.app.lowercased())\nuser: bot") == "")
        #expect(mistakes("app: nonsense\nuser: bot\nendpoint: ws://127.0.0.1:8000") == "")
    }

    @Test(arguments: [
        ("ours", "127.0.0.1:8000", ""), ("OURS", "127.0.0.1:8000", ""), ("other", "127.0.0.1:8001", ""),
        ("other", "chat.example:8000", ""),
        ("other", "localhost:8000", "OTHER"), ("other", "127.0.0.1:8000/", "OTHER"),
    ])
    func `an account on the server of the same file comes to its application`(
        _ app: String, _ host: String, _ found: String
    ) {
        let text = """
            server: {listen: "127.0.0.1:8000", app: ours}
            accounts:
              bird:
                service: sendbird
                app: \(app)
                user: bot
                endpoint: "ws://\(host)"
            """
        let mistake =
            "5:10: \"other\" is not the application of the server here - write app: ours, as \"server\" has it"
        #expect(Configuration().mistakes(text) == (found.isEmpty ? "" : mistake))
    }

    @Test func `its only role is operator`() {
        let text = """
            accounts:
              bird: {service: sendbird, app: \(Self.app), user: bot}
            roles:
              moderator: {bird: operator}
              admin: {bird: boss}
            """
        #expect(Configuration().mistakes(text).contains("5:17: \"boss\""))
    }
}

@Suite struct AccountsOnTwilio {
    private func mistakes(_ account: String, environment: [String: String] = [:]) -> String {
        let lines = account.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        let text = "accounts:\n  it:\n    service: twilio\n" + lines + "\n"
        return Configuration().mistakes(text, environment: environment)
    }

    @Test func `what the service alone can see is found with everything else, each at its place`() {
        #expect(
            mistakes(
                """
                identity: ""
                region: us 1
                endpoint: https://example.org
                product: conversation
                join: [general, ""]
                roles: {helper: XX1}
                bots: [""]
                token: {url: example.org/token, method: post, body: xml, headers: {Api-Key: abc, Accept: text/plain}}
                """) == """
                    4:15: an empty value has not 1 to 256 characters
                    5:13: "us 1" is not a region - it is a part of host names, such as us1
                    6:15: "https://example.org" does not begin with ws:// or wss:// - write wss://HOST/v3/wsconnect
                    7:14: "conversation" is not known here - did you mean "conversations"? It is conversations or chat
                    8:21: an empty value has not 1 to 256 characters
                    9:21: "XX1" does not begin with RL - it is the role's SID; the words for rules stand in "roles:" of the file
                    10:12: an empty value has not 1 to 256 characters
                    11:18: "example.org/token" does not begin with http:// or https:// - write https://HOST/PATH
                    11:45: "post" is not known here - did you mean "POST"? It is GET or POST
                    11:57: "xml" is not known here - use json or form
                    11:81: "Api-Key" is a secret by its name and must not stand here - put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}
                    """)
    }

    @Test func `a role is one that the service has, or one with a SID`() {
        let (known, other) = (
            "RL0123456789abcdef0123456789abcdef", "RLffffffffffffffffffffffffffffffff"
        )
        let text = """
            accounts:
              town: {service: twilio, identity: b, token: {url: "http://h"}, roles: {helper: \(known)}}
            roles:
              moderator: {town: ["channel admin", helper, \(other)], users: ["town:ana"]}
              admin: {town: "chanel admin"}
              guide: {town: \(known)}
            """
        let words = #""channel admin", "channel user", "helper", "service admin", "service user""#
        #expect(
            Configuration().mistakes(text) == """
                5:17: "chanel admin" is no role of town - write \(words) or a role's SID; a word of your own needs its SID under "roles" of the account
                6:17: "\(known)" is no role of town - write "helper", which it is called here
                """)
    }

    @Test func `a token that we sign has the SIDs it needs and a life within bounds`() {
        #expect(
            mistakes(
                """
                identity: steward
                token:
                  sign: {account: SK1, key: "${env:KEY}", secret: abc, service: AC1, life: 2d}
                """, environment: ["KEY": "hush"]) == """
                    6:23: "SK1" does not begin with AC - it is the account's SID
                    6:33: "${env:KEY}" does not begin with SK - it is the API key's SID
                    6:55: a secret must not stand in the configuration - put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}
                    6:69: "AC1" does not begin with IS - it is the chat service's SID
                    6:80: "2d" is no life for a token - at least 1s, at most 24h
                    """)
    }

    @Test(arguments: [
        (
            "abc",
            "5:12: \"abc\" is not a mapping - write \"key: value\" lines; known here: url, command, file, sign, method, fields, headers, body, field"
        ),
        ("{}", "5:12: it is not said where the token comes from - write one of url, command, file and sign"),
        (
            "{ulr: http://h/}",
            "5:12: it is not said where the token comes from - write one of url, command, file and sign\n5:13: unknown key \"ulr\" - did you mean \"url\"?"
        ),
        (
            "{url: http://h/, file: x}",
            "5:12: a token comes from one place, and here are \"url\" and \"file\" - delete all but one"
        ),
        ("{command: []}", "5:22: this names no program - write [PROGRAM, ARGUMENT, …]"),
        ("{file: x, method: POST}", "5:22: unknown key \"method\" - known here: command, file, sign, url"),
        (
            "{url: \"http://me:pass@h/\"}",
            "5:18: \"url\" has a password in it - put it into a file or the environment and write ${file:PATH}, ${env:NAME} or ${credential:NAME}"
        ),
    ])
    func `a token that cannot be got says what to write`(_ token: String, _ mistake: String) {
        #expect(mistakes("identity: steward\ntoken: \(token)") == mistake)
    }

    @Test func `a reference may stand within a field or header, and what is no secret may stand alone`() {
        #expect(
            mistakes(
                """
                identity: steward
                token:
                  url: https://${env:HOST}/token
                  fields: {key: "${env:KEY}", room: lobby}
                  headers: {Authorization: "Bearer ${env:KEY}", X-Room: lobby}
                """, environment: ["HOST": "h", "KEY": "k"]) == "")
    }

    @Test func `typographic quotes are told from straight ones`() {
        #expect(
            mistakes("identity: “steward”\ntoken: {file: x}")
                == "4:15: \"“steward”\" has quotes that YAML takes for text - use straight ones: \"…\"")
    }

    @Test func `a secret that is written out is not shown`() {
        let error = #expect(throws: ConfigError.self) {
            _ = try ConfigReader.read(
                Array(
                    "accounts: {a: {service: twilio, identity: b, token: {url: http://h, headers: {Authorization: hush}}}}"
                        .utf8), file: "config.yaml", environment: [:])
        }
        #expect(error?.description.contains("hush") == false)
        #expect(
            error?.description.hasPrefix("config.yaml:1:94: error: \"Authorization\" is a secret") == true)
    }

    @Test func `a password in a homeserver's address is not shown`() {
        let error = #expect(throws: ConfigError.self) {
            _ = try ConfigReader.read(
                Array(
                    """
                    accounts:
                      a:
                        service: matrix
                        homeserver: "https://steward:hunter2secret@matrix.example.org"
                        login: {user: b, password: "${env:P}"}
                    """.utf8), file: "config.yaml", environment: ["P": "x"])
        }
        #expect(error?.description.contains("hunter2secret") == false)
        #expect(
            error?.description.hasPrefix(
                "config.yaml:4:17: error: \"homeserver\" has a user or a password in it - write only the address"
            ) == true)
    }

    @Test func `one policy is meant as policies`() {
        let error = #expect(throws: ConfigError.self) {
            _ = try ConfigReader.read(
                Array(
                    """
                    accounts:
                      a:
                        service: matrix
                        homeserver: example.org
                        login: {user: b, password: "${env:P}"}
                        policy: {coc: "#coc:example.org"}
                    """.utf8), file: "config.yaml", environment: ["P": "x"])
        }
        #expect(error?.description.contains("unknown key \"policy\" - did you mean \"policies\"?") == true)
    }

    @Test func `paths begin at the folder of the file, and so does a program's`() throws {
        func token(_ source: String) throws -> String {
            let text = "accounts: {a: {service: twilio, identity: b, token: {\(source)}}}"
            let config = try ConfigReader.read(
                Array(text.utf8), file: "/etc/steward/config.yaml", environment: [:])
            let settings = try #require(config.accounts.first?.settings as? TwilioSettings)
            return "\(settings.token)"
        }
        #expect(try token("file: run/token").contains("\"/etc/steward/run/token\""))
        #expect(try token("file: /run/token").contains("\"/run/token\""))
        #expect(try token("command: [bin/token, a/b]").contains("[\"/etc/steward/bin/token\", \"a/b\"]"))
        #expect(try token("command: [token]").contains("[\"token\"]"))
        #expect(try token("command: \"token | head\"").contains("[\"/bin/sh\", \"-c\", \"token | head\"]"))
    }
}

@Suite struct TheRestOfTheConfiguration {
    @Test func `what could not run is found, too`() {
        #expect(
            Configuration().mistakes(
                """
                server: {listen: 8000, keep: 0}
                limits: {answers_per_event: 0, behind: 0, stale_after: 0s}
                accounts: {}
                roles: {moderator: {users: [ana]}}
                """) == """
                    1:18: "8000" is not an address - write HOST:PORT, such as 127.0.0.1:8000
                    1:30: "keep" must be at least 1
                    2:29: "answers_per_event" must be at least 1
                    2:40: "behind" must be at least 1
                    2:56: "stale_after" must be longer than nothing - 10m unless given
                    3:11: "accounts" is empty - name at least one
                    4:29: "ana" does not say in which account - write "account:ana"
                    """)
    }

    @Test func `ceilings are read, and a wrong one says what to write`() throws {
        let text = """
            accounts: {here: {service: twilio, identity: steward, token: {url: "http://x/token"}, join: [office]}}
            report_to: office
            limits: {bans: 5 per 1d, deletions: 10000 per 1m per channel}
            """
        let config = try ConfigReader.read(Array(text.utf8), file: "config.yaml", environment: [:])
        var ceilings = Ceilings()
        ceilings.bans = Ceiling(5, per: .seconds(86_400))
        ceilings.deletions = Ceiling(10_000, per: .seconds(60))
        #expect(config.turnLimits.ceilings == ceilings)
        #expect(config.turnLimits.reportTo == "office")
        #expect(
            Configuration().mistakes(
                """
                accounts: {here: {service: twilio, identity: steward, token: {url: "http://x/token"}}}
                limits:
                  bans: unlimited
                  kicks: 0 per 10m
                  deletions: 200 per 1m
                """) == """
                    3:9: "unlimited" is not a ceiling - try "20 per 10m"
                    4:10: a ceiling is 1 to 1000000: nothing is without end
                    5:14: "deletions" are counted per channel - write "200 per 1m per channel"
                    """)
        #expect(
            Configuration().mistakes(
                """
                accounts: {here: {service: twilio, identity: steward, token: {url: "http://x/token"}}}
                report_to: office
                limits: {bans: 3 per 1h per channel, kicks: 9 per 99y, deletions: 9 per 31d per channel}
                """) == """
                    2:12: unknown channel "office" - name it under "channels:", or let an account join it
                    3:16: "bans" are counted for the account, not per channel
                    3:45: unknown unit "y" in "99y" - use ms, s, m, h, d or w
                    3:67: the time of a ceiling is 1s to 30d
                    """)
    }

    @Test func `names with a role by users are kept back on the built-in server, others are not`() throws {
        let text = """
            server: {private: [staff]}
            accounts:
              here: {service: twilio, identity: bot, endpoint: "ws://127.0.0.1:8000/v3/wsconnect", token: {file: t}}
              far: {service: twilio, identity: bot, token: {file: t}}
            roles:
              moderator: {users: ["here:tom", "far:eve"]}
              helper: {here: "channel user", users: ["here:Ana"]}
            """
        let config = try ConfigReader.read(Array(text.utf8), file: "config.yaml", environment: [:])
        let settings = try Stores.settings(of: #require(config.server), config)
        #expect(settings.keptBack == ["tom", "Ana"])
        #expect(settings.privateChannels == ["staff"])
    }

    @Test func `a chat server that other machines reach needs a secret`() {
        let text = "server: {listen: \"0.0.0.0:8000\"}\naccounts: {}"
        #expect(
            Configuration().mistakes(text).hasPrefix(
                "1:18: \"secret\" is missing: whoever reaches 0.0.0.0 would get a token - write secret: ${env:NAME}, or listen on 127.0.0.1:8000"
            ))
    }
}

extension Configuration {
    @Test(arguments: [#""""#, "'${env:CHAT_SECRET}'"])
    func `an empty secret of the chat server is a mistake of the file`(_ secret: String) {
        let text = """
            server: {secret: \(secret)}
            accounts:
              here: {service: twilio, identity: steward, token: {url: "http://127.0.0.1:8000/token"}}
            """
        #expect(
            mistakes(text, environment: ["CHAT_SECRET": ""])
                == "1:18: the server's secret is empty - give it a value, or delete the line")
    }
}

@Suite struct PlacesForStores {
    @Test func `a store that cannot be where it is wanted says which folder and what to do`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "steward-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file")
        try Data().write(to: file)
        let error = #expect(throws: SettingsMistake.self) { try Stores.prepared(file.path() + "/s.db") }
        #expect(
            error?.description
                == "\(file.path()): the folder for the store cannot be made - let user \(getuid()) write there, or name another place in the configuration"
        )
        #expect(try Stores.prepared(folder.path() + "/new/s.db") == folder.path() + "/new/s.db")
    }
}

@Suite struct WordsForShells {
    @Test func `the word behind help is completed, and each shell gets all commands`() {
        for shell in Completion.Shell.allCases {
            let script = Completion.script(for: shell)
            for command in Command.all { #expect(script.contains(command.name), "\(shell)") }
        }
        let names = Command.all.map(\.name).joined(separator: " ")
        #expect(Completion.script(for: .bash).contains("help) words='\(names) --help'"))
    }

    @Test func `one of a thing is one of it`() {
        #expect(counted(1, "rule") == "1 rule")
        #expect(counted(0, "rule") == "0 rules")
    }
}

@Suite struct CommandLineWords {
    func mistake(_ words: String...) -> String? {
        guard case .mistake(let text) = CommandLineReader.read(words) else { return nil }
        return text
    }

    @Test func `an unknown command is answered with the one that was meant`() {
        #expect(
            mistake("versoin")
                == "steward: unknown command \"versoin\" - did you mean \"version\"?\nsteward --help lists the commands\n"
        )
    }

    @Test func `a command to be helped with is looked up, too`() {
        #expect(
            mistake("help", "chck")
                == "steward help: unknown word \"chck\" - did you mean \"check\"?\nsteward help --help shows its options\n"
        )
        guard case .run(_, let arguments) = CommandLineReader.read(["help", "check"]) else {
            Issue.record("not understood")
            return
        }
        #expect(arguments.word == "check")
    }

    @Test func `an option that a command does not have is refused`() {
        #expect(
            mistake("version", "--loud")
                == "steward version: unknown option \"--loud\"\nsteward version --help shows its options\n")
    }
}

@Suite struct LogLines {
    let line = Log.Line(
        level: .warning, text: "said \"no\"\nforged", fields: [("account", "twi\u{1B}[31mlio")])

    @Test func `a line for programs is one JSON object, whatever people wrote`() {
        #expect(
            LogWriter.forPrograms(line, at: Timestamp(milliseconds: 1_774_735_800_123))
                == #"{"time":"2026-03-28T22:10:00.123Z","level":"warning","text":"said \"no\"\nforged","account":"twi\u001b[31mlio"}"#
                + "\n")
    }

    @Test func `a line for people cannot move their cursor`() {
        let text = LogWriter.forPeople(line, at: Timestamp(milliseconds: 0), colours: false)
        #expect(text.hasSuffix("warning said \"no\"\n                 forged  account=twi\\u{1b}[31mlio\n"))
    }
}
