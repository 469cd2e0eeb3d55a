internal import Chat
internal import JSON

/// `Bench echo HOST:PORT CHANNEL …`: the least that can answer a question, for comparison: no engine, no rules, nothing
/// stored.
enum EchoClient {
    static let identity = "echo"
    /// What it writes when it hears all its channels.
    static let ready = "echo listens"

    static func run(_ arguments: [String]) async throws {
        let address = ServerAddress(name: arguments[0])
        let tools = try NetTools()
        let client = try await TwilsockClient.connect(identity, to: address, tools)
        async let reading: Void = client.run { payload in
            guard payload["event_type"]?.equals("list_item_added") == true,
                let event = payload["events"]?[0], let item = event["item_data"],
                item["author"]?.equals(identity) == false, let text = item["text"]?.string,
                Question.number(in: text) != nil,
                let channel = event["list_unique_name"]?.string?.split(separator: ".").first
            else { return }
            client.post(text, in: String(channel))
        }
        try await client.logIn(address, tools, hears: true)
        try await subscribe(client, to: Array(arguments.dropFirst()))
        complain("\(ready)\n")
        await reading
    }

    private static func subscribe(_ client: TwilsockClient, to channels: [String]) async throws {
        var requests: [JSON] = []
        for channel in channels {
            try await client.join(channel)
            let list = await client.request(
                "GET", "/v3/Lists/\(channel).messages", host: "cds.us1.twilio.com")
            requests.append([
                "object_sid": list.body["sid"] ?? .null, "object_type": "list",
                "last_event_id": list.body["last_event_id"] ?? .null,
            ])
        }
        let answer = await client.request(
            "POST", "/v4/Subscriptions", host: "cds.us1.twilio.com",
            body: [
                "event_protocol_version": 4, "action": "establish", "correlation_id": 1,
                "retried_requests": 0,
                "ttl_in_s": -1, "requests": .array(requests),
            ])
        guard answer.status == 202 else { throw BenchError("no subscription: \(answer.body)") }
    }
}

/// A message that wants an answer: the word `question`, its number, and some more.
enum Question {
    static func text(_ number: Int, _ more: String) -> String { "question \(number) \(more)" }

    static func number(in text: String) -> Int? {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count > 1, words[0] == "question" else { return nil }
        return Int(words[1])
    }
}
