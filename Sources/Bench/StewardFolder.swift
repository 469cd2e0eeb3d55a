/// What `steward run` needs: a configuration for an account on a chat server, and some rules.
struct StewardFolder {
    private let workspace: Workspace

    var command: [String] {
        ["\(Workspace.programs)/steward", "run", "--config", "\(workspace.path)/config.yaml"]
    }

    init(_ name: String, _ server: ServerAddress, channels: Int) throws {
        workspace = try Workspace(name)
        try workspace.write(
            """
            accounts:
              twilio:
                service: twilio
                identity: steward
                endpoint: "\(server.socketURL)"
                token: {url: "\(server.url)/token"}
                join: [\(ChatWorld.names(channels).joined(separator: ", "))]
            storage: {file: state/steward.db}
            bots: bots/
            log: {level: info}

            """, to: "config.yaml")
        let question = """
              question:
                when: messageAdded
                if: {text: {has_any: [question]}}
                do:
                  - reply: "{{ message.text }}"

            """
        try workspace.write(
            KeywordRules.source(Vocabulary(keywords: 100).keywords, extra: question), to: "bots/bench.yaml")
    }

    /// What it writes when it is logged in and knows all its channels.
    static let ready = "logged in"
}
