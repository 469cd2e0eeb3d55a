internal import Chat
internal import HTTPServer

/// Where every request comes in, and to which door it is shown.
struct FrontDoor: Sendable {
    let settings: ServerSettings
    let twilio: TwilioDoor
    let browser: BrowserDoor
    let tokens: TokenDoor
    let media: MediaDoor
    let sendbird: SendbirdDoor

    func answer(_ request: HTTPRequest) async -> HTTPReply {
        guard isMeantForUs(request) else {
            return .text(421, "this server is reached as localhost only\n")
        }
        let path = request.segments
        switch path.first {
        case nil where request.path == "/" && request.wantsWebSocket:
            return sendbird.answer(request, base: base(of: request))
        case _ where WebPage.has(request.path): return WebPage.answer(request)
        case "browser" where path.count == 1: return browser.answer(request)
        case "token" where path.count == 1: return tokens.answer(request)
        case "v3" where path == ["v3", "wsconnect"]:
            guard request.wantsWebSocket else {
                return .text(426, "this is a WebSocket\n", headers: [("Upgrade", "websocket")])
            }
            let (twilio, base) = (twilio, base(of: request))
            return .webSocket(subprotocol: nil) { await twilio.serve($0, mediaBase: base) }
        case "v3": return await sendbird.answer(request, path: path.dropFirst(), base: base(of: request))
        case "v1": return await media.answer(request, path: path.dropFirst(), base: base(of: request))
        case "faults" where path.count == 1 && settings.faultsOverHTTP && isNear(request):
            return FaultSwitch(faults: twilio.faults, twilio: twilio, sendbird: sendbird).answer(request)
        default: return .text(404, "there is nothing here\n")
        }
    }

    /// A page elsewhere could have its own name lead to this address; on loopback only loopback's names are answered.
    private func isMeantForUs(_ request: HTTPRequest) -> Bool {
        guard ChatServer.isLoopback(settings.host) else { return true }
        return ChatServer.isLoopback(Self.hostName(request.header("Host") ?? ""))
    }

    /// The host without its port.
    private static func hostName(_ host: String) -> String {
        if host.hasPrefix("[") { return String(host.prefix { $0 != "]" }) + "]" }
        return String(host.prefix { $0 != ":" })
    }

    private func isNear(_ request: HTTPRequest) -> Bool {
        guard let colon = request.remote.lastIndex(of: ":") else { return false }
        return ChatServer.isLoopback(String(request.remote[..<colon]))
    }

    /// The address by which the client reaches us.
    private func base(of request: HTTPRequest) -> String {
        let host = request.header("Host") ?? ""
        let isPlain =
            !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
        return "http://" + (isPlain ? host : settings.host)
    }
}
