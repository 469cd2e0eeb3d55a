internal import Chat
internal import HTTPServer
internal import JSON
internal import WebSocket

/// `POST /faults`: the fault switches for tests in other processes. On loopback only, and only when it was enabled.
struct FaultSwitch: Sendable {
    let faults: Faults
    let twilio: TwilioDoor
    let sendbird: SendbirdDoor

    /// The body: `{"fault":"delay","identity":"bot","times":3,"ms":200}`.
    func answer(_ request: HTTPRequest) -> HTTPReply {
        guard request.method == "POST" else { return .text(405, "use POST\n", headers: [("Allow", "POST")]) }
        guard let order = try? JSON(parsing: request.body), let name = order["fault"]?.string else {
            return .text(400, "the body must be a JSON object with \"fault\"\n")
        }
        let identity = order["identity"]?.string
        if throwNow(name, identity, order) { return .text(200, "done\n") }
        guard let kind = kind(name, order) else { return .text(400, "there is no fault \"\(name)\"\n") }
        faults.add(Fault(kind, for: identity, times: Int(order["times"]?.int ?? 1)))
        return .text(200, "set\n")
    }

    /// What happens at once.
    private func throwNow(_ name: String, _ identity: String?, _ order: JSON) -> Bool {
        let connections = twilio.connections.of(identity)
        let birds = sendbird.connections.of(identity)
        switch name {
        case "clear": faults.clear()
        case "drop":
            for connection in connections { connection.socket.kill() }
            for connection in birds { connection.socket.kill() }
        case "end_sessions":
            sendbird.endSessions(of: identity)
            for connection in birds {
                connection.warn(Int(order["code"]?.int ?? 400309), in: order["seconds"]?.int ?? 0)
            }
        case "busy_now": for connection in birds { connection.sayBusy(Int(order["retry_after"]?.int ?? 1)) }
        case "warn": for connection in connections { connection.warn(at: .now) }
        case "expire":
            for connection in connections { connection.close(code: 410, errorCode: 51207, "Token expired") }
        case "close":
            let code = Int(order["status"]?.int ?? 308)
            let backoff = order["ms"]?.int.map { Duration.milliseconds($0) }
            for connection in connections {
                connection.close(
                    code: code, errorCode: order["code"]?.int.map(Int.init), "closed for a test",
                    backoff: backoff)
            }
        default: return false
        }
        return true
    }

    private func kind(_ name: String, _ order: JSON) -> Fault.Kind? {
        let status = order["status"]?.int.map(Int.init)
        let code = order["code"]?.int.map(Int.init)
        let time = order["ms"]?.int.map { Duration.milliseconds($0) }
        switch name {
        case "cut_before_post": return .cutBeforePost
        case "cut_after_post": return .cutAfterPost
        case "delay": return .delayReply(time ?? .seconds(1))
        case "no_reply": return .noReply
        case "refuse":
            let status = status ?? 503
            return .refuse(
                status: status, code: code ?? (status == 429 ? 50063 : 20503),
                retryAfter: order["retry_after"]?.int.map(Int.init))
        case "accepted": return .accepted
        case "refuse_init": return .refuseInit(status: status ?? 401, code: code, backoff: time)
        case "refuse_update": return .refuseUpdate(status: status ?? 401, code: code)
        case "refuse_token": return .refuseToken(status: status ?? 503)
        case "misorder": return .misorder
        case "duplicate": return .duplicate
        case "lose": return .lose
        case "not_established": return .notEstablished
        case "silent": return .silent
        case "busy": return .busy(retryAfter: Int(order["retry_after"]?.int ?? 1))
        case "no_pong": return .noPong
        case "old_time": return .oldTime
        case "gzip": return .gzip
        case "glued": return .glued
        case "unended": return .unended
        default: return nil
        }
    }
}
