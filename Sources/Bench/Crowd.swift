/// Clients that write, each in one channel, and hear nothing but the answers to their requests.
struct Crowd {
    private let clients: [(client: TwilsockClient, channel: String)]

    /// There while the body runs; they are spread over all channels.
    static func run<Result>(
        _ count: Int, in world: ChatWorld, named name: String, _ body: (Crowd) async throws -> Result
    ) async throws -> Result {
        var clients: [(client: TwilsockClient, channel: String)] = []
        for number in 0..<count {
            let client = try await TwilsockClient.connect("\(name)-\(number)", to: world.address, world.tools)
            clients.append((client, world.channels[number % world.channels.count]))
        }
        let (all, crowd) = (clients, Crowd(clients: clients))
        defer { for (client, _) in all { client.close() } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for (client, _) in all { group.addTask { await client.run() } }
            for (client, channel) in all {
                try await client.logIn(world.address, world.tools)
                try await client.join(channel)
            }
            let result = try await body(crowd)
            for (client, _) in all { client.close() }
            return result
        }
    }

    var count: Int { clients.count }

    func post(_ text: String, by number: Int) {
        let (client, channel) = clients[number % clients.count]
        client.post(text, in: channel)
    }

    var counts: TwilsockClient.Counts {
        clients.reduce(into: TwilsockClient.Counts()) { sum, entry in
            let counts = entry.client.counts
            sum.sent += counts.sent
            sum.done += counts.done
            sum.refused += counts.refused
        }
    }
}
