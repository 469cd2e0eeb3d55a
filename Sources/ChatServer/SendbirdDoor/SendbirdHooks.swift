internal import Chat
internal import Crypto
internal import HTTP
internal import JSON

/// Tells a program elsewhere what happens, by a signed request for each event: at least once, and in order.
final class SendbirdHooks: Listener {
    let identity = ""
    private let door: SendbirdDoor
    private let http: HTTPClient
    private let state = Locked(State())
    /// Beyond this many that wait, new ones are given up, and that is said.
    private let bound = 10_000

    private struct State {
        var waiting: [[UInt8]] = []
        var isOver = false
        var isBehind = false
        var reader: CheckedContinuation<Void, Never>?
    }

    init(door: SendbirdDoor, http: HTTPClient) {
        self.door = door
        self.http = http
    }

    func hear(_ typing: Typing) {}
    func lose(_ feed: FeedID, version: Int) {}

    func hear(_ telling: Telling, version: Int) {
        let body: [UInt8]? = door.hall.look { world in
            guard let hook = world.hook, hook.isEnabled else { return nil }
            return SendbirdHookEvent(telling.event, hook: hook, world: world, application: door.application)?
                .body
        }
        guard let body else { return }
        let (reader, isNews): (CheckedContinuation<Void, Never>?, Bool) = state.withLock { state in
            guard !state.isOver else { return (nil, false) }
            guard state.waiting.count < bound else {
                defer { state.isBehind = true }
                return (nil, !state.isBehind)
            }
            state.isBehind = false
            state.waiting.append(body)
            defer { state.reader = nil }
            return (state.reader, false)
        }
        if isNews {
            door.log.warning(
                "chat server: the webhook takes nothing; \(bound) events wait, new ones are not sent to it")
        }
        reader?.resume()
    }

    /// Sends one after the other until `close`.
    func run() async {
        while let body = await next() {
            guard let hook = door.hall.look({ $0.hook }), hook.isEnabled, !Task.isCancelled else { continue }
            await send(body, to: hook)
        }
        await http.shutdown()
    }

    func close() {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.isOver = true
            state.waiting = []
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    private func next() async -> [UInt8]? {
        while true {
            let (body, isOver): ([UInt8]?, Bool) = state.withLock { state in
                (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isOver)
            }
            if let body { return body }
            if isOver { return nil }
            await withCheckedContinuation { continuation in
                let isNeeded = state.withLock { state in
                    guard state.waiting.isEmpty, !state.isOver else { return false }
                    state.reader = continuation
                    return true
                }
                if !isNeeded { continuation.resume() }
            }
        }
    }

    /// Three tries; whoever does not answer 200 in time then does without.
    private func send(_ body: [UInt8], to hook: SendbirdHook) async {
        let key = door.settings.sendbird.apiToken ?? ""
        let signature = Hex.encode(HMAC.sha256(key: Array(key.utf8), data: body))
        var request = OutgoingRequest(
            method: "POST", url: hook.url,
            headers: [
                ("user-agent", "SendBird"), ("content-type", "application/json"),
                ("x-sendbird-signature", signature),
            ], body: body)
        request.timeout = door.settings.sendbird.hookTimeout
        for _ in 0..<3 {
            if let answer = try? await http.send(request), answer.status == 200 { return }
            guard (try? await Task.sleep(for: door.settings.sendbird.hookPause)) != nil else { return }
        }
        door.log.warning("chat server: the webhook did not take an event in three tries")
    }
}

/// Where events are sent, and which.
struct SendbirdHook: Sendable, Equatable {
    var isEnabled = false
    var url = ""
    /// Categories; `*` stands for all.
    var events: [String] = []
    var includesMembers = false

    func wants(_ category: String) -> Bool { events.contains("*") || events.contains(category) }

    func write(_ writer: inout JSONWriter) {
        writer.member("enabled", isEnabled)
        writer.member("url", url)
        writer.member("include_members", includesMembers)
        writer.member("include_unread_count", false)
        writer.array("enabled_events") { for event in events { $0.value(event) } }
    }

    mutating func take(_ fields: JSON) {
        if let enabled = fields["enabled"]?.bool { isEnabled = enabled }
        if let url = fields["url"]?.string { self.url = url }
        if let included = fields["include_members"]?.bool { includesMembers = included }
        if let events = fields["enabled_events"]?.array { self.events = events.compactMap(\.string) }
    }
}
