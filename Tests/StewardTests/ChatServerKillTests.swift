import Foundation
import JSON
import Testing
import WebSocket

@Suite(.timeLimit(.minutes(2))) struct KilledChatServers {
    private static let rounds = 6
    /// Below what a channel takes at once.
    private static let perRound = 24

    /// A page that sends again what was not acknowledged, under the same key.
    @Test func `a killed chat server has each acknowledged message once and in order`() async throws {
        let state = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db").path()
        defer {
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: state + end) }
        }
        let loop = try SocketLoop()
        var room: JSON = .null
        var acknowledged: [Int] = []
        var sent = 0
        for round in 0..<Self.rounds {
            let server = try await ChatServerProcess(state: state)
            let page = try await PageLine(port: server.port, name: "ana", loop: loop)
            if room == .null {
                try await page.say(["do": "create", "n": 1_000_000, "name": "room"])
                room = try #require(try await page.answer(to: 1_000_000)["channel"])
            }
            let open = Set(0..<sent).subtracting(acknowledged).sorted()
            let fresh = Array(sent..<(sent + Self.perRound - open.count))
            sent += fresh.count
            for number in open + fresh {
                try await page.say([
                    "do": "say", "n": .int(Int64(number)), "channel": room, "text": .string("\(number)"),
                    "key": .string("key \(number)"),
                ])
            }
            // Each round is cut at another place, the last one not at all.
            let wanted = round == Self.rounds - 1 ? open.count + fresh.count : 1 + round * 3
            var seen = 0
            while seen < wanted, let words = try await page.hear() {
                for word in words where word["n"] != nil {
                    #expect(word["on"] == "done", "\(word)")
                    acknowledged.append(Int(word["n"]?.int ?? -1))
                    seen += 1
                }
            }
            server.kill()
        }
        #expect(acknowledged.sorted() == Array(0..<sent))
        let server = try await ChatServerProcess(state: state)
        let page = try await PageLine(port: server.port, name: "ana", loop: loop)
        var texts: [String] = []
        var before: JSON = .null
        while true {
            try await page.say(["do": "page", "n": 1, "channel": room, "before": before])
            let answer = try await page.answer(to: 1)
            let messages = answer["messages"]?.array ?? []
            texts = messages.compactMap { $0["text"]?.string } + texts
            before = messages.first?["index"] ?? .null
            if answer["more"] != true { break }
        }
        #expect(texts == (0..<sent).map(String.init))
        server.kill()
        await loop.shutdown(grace: .seconds(1))
    }
}
