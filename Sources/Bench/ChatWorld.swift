internal import JSON

/// A chat server in a process of its own, with some channels.
struct ChatWorld: Sendable {
    let program: Program
    let address: ServerAddress
    let tools: NetTools
    /// SIDs; the unique names are `room-0` and so on.
    let channels: [String]

    static func names(_ count: Int) -> [String] { (0..<count).map { "room-\($0)" } }

    /// Runs while the body does.
    static func run<Result>(
        channels count: Int, _ body: (ChatWorld) async throws -> Result
    ) async throws -> Result {
        let program = try Program(["\(Workspace.programs)/steward", "server", "--listen", "127.0.0.1:0"])
        let tools = try NetTools()
        do {
            let line = try await program.line(with: "is open at ")
            // …"text":"the chat server is open at http://127.0.0.1:1234"}
            let parts = line.text.split(separator: "http://")
            let name = parts.last.map { $0.prefix { $0 != "\"" && $0 != "/" && $0 != " " } } ?? ""
            let address = ServerAddress(name: String(name))
            let channels = try await makeChannels(count, address, tools)
            let result = try await body(
                ChatWorld(program: program, address: address, tools: tools, channels: channels))
            await tools.shutdown()
            await program.stop()
            return result
        } catch {
            await tools.shutdown()
            await program.stop()
            throw error
        }
    }

    private static func makeChannels(
        _ count: Int, _ address: ServerAddress, _ tools: NetTools
    ) async throws -> [String] {
        try await TwilsockClient.session("host", address, tools) { host in
            var channels: [String] = []
            for name in names(count) {
                let made = try await host.change(
                    "", body: ["unique_name": .string(name), "friendly_name": .string(name)])
                channels.append(made["sid"]?.string ?? "")
            }
            return channels
        }
    }
}

extension TwilsockClient {
    /// Logged in while the body runs.
    static func session<Result: Sendable>(
        _ identity: String, _ address: ServerAddress, _ tools: NetTools, hears: Bool = false,
        hear: @escaping Hear = { _ in }, _ body: (TwilsockClient) async throws -> Result
    ) async throws -> Result {
        let client = try await connect(identity, to: address, tools)
        async let reading: Void = client.run(hear)
        defer { client.close() }
        try await client.logIn(address, tools, hears: hears)
        let result = try await body(client)
        client.close()
        await reading
        return result
    }
}
