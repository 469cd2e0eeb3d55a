import Chat
import ChatServer
import Engine
import Foundation
import Glibc
import Services
import Testing

@testable import steward

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
