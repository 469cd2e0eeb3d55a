internal import Chat
internal import JSON
internal import WebSocket

extension TwilioConnection {
    /// One frame of the client.
    func handle(_ frame: [UInt8], _ reader: JSONReader) {
        do {
            let (header, start) = try TwilsockFrame.cut(frame)
            try reader.read(frame[header]) { header in
                let size = header["payload_size"]
                guard size == nil || size?.isNull == true || size?.int != nil else {
                    throw TwilsockFrame.Malformed(why: "payload_size is no number")
                }
                let payload = try TwilsockFrame.payload(of: frame, from: start, size: size?.int ?? 0)
                try handle(header, payload)
            }
        } catch let error as TwilsockFrame.Malformed {
            close(code: 406, error.why)
        } catch {
            close(code: 406, "the header is no JSON object: \(error)")
        }
    }

    private func handle(_ header: JSONNode, _ payload: ArraySlice<UInt8>) throws {
        guard let method = header["method"]?.string, let id = header["id"]?.string else {
            throw TwilsockFrame.Malformed(why: "method or id is missing")
        }
        switch method {
        case "reply": break
        case "init": begin(id, header)
        case "close": socket.close()
        case "ping": reply(to: id)
        default:
            guard state.withLock({ $0.session != nil }) else {
                return reply(to: id, code: 401, errorCode: 51130, "init comes first")
            }
            switch method {
            case "update": update(id, token: header["token"]?.string ?? "")
            case "message": message(id, header, payload)
            case "telemetry.v1": reply(to: id)
            case "put_notification_ctx": register(id, header, payload)
            case "delete_notification_ctx":
                let context = header["notification_ctx_id"]?.string ?? ""
                state.withLock { $0.session?.registered[context] = nil }
                reply(to: id)
            default: reply(to: id, code: 400, "unknown method \"\(method)\"")
            }
        }
    }

    /// A later registration of older clients: one more context with its types.
    private func register(_ id: String, _ header: JSONNode, _ payload: ArraySlice<UInt8>) {
        let body = try? JSON(parsing: Array(payload))
        guard let context = header["notification_ctx_id"]?.string, let types = body?["message_types"]?.array
        else { return reply(to: id, code: 400, "notification_ctx_id or message_types is missing") }
        state.withLock { $0.session?.registered[context] = Set(types.compactMap(\.string)) }
        reply(to: id)
    }

    private func update(_ id: String, token: String) {
        if let (code, errorCode) = door.faults.take(
            for: identity,
            { fault -> (Int, Int?)? in
                guard case .refuseUpdate(let status, let code) = fault else { return nil }
                return (status, code)
            })
        {
            return reply(to: id, code: code, errorCode: errorCode, TwilioAnswer.words(for: code))
        }
        let now = Timestamp.now
        do {
            let claims = try door.issuer.check(token, at: now)
            guard claims.identity == identity else {
                return reply(to: id, code: 403, errorCode: 51215, "The token is of another identity")
            }
            let warnAt = warning(claims, at: now)
            state.withLock { state in
                state.session?.claims = claims
                state.session?.warnAt = warnAt
            }
            // Behind what was answered before.
            door.hall.take { _ in { _ in self.reply(to: id) } }
        } catch {
            reply(to: id, code: 401, errorCode: error.rawValue, "\(error)")
        }
    }

    func warning(_ claims: TokenIssuer.Claims, at now: Timestamp) -> Timestamp {
        let life = claims.expires - now
        return claims.expires - min(door.settings.warnBeforeExpiry, life / 10)
    }

    private func message(_ id: String, _ header: JSONNode, _ payload: ArraySlice<UInt8>) {
        guard header["active_grant"]?.equals("ip_messaging") == true else {
            return reply(to: id, code: 403, errorCode: 51215, "active_grant must be ip_messaging")
        }
        guard let http = header["http_request"],
            let request = TwilioRequest(http, payload: payload, type: header["payload_type"]?.string)
        else { return reply(to: id, code: 400, "http_request needs a path and a method") }
        perform(id, request)
    }
}
