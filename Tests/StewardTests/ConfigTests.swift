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
