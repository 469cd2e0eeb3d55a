internal import Chat
internal import Crypto
internal import JSON

extension TwilioConnection {
    /// `init`: who the client is, what it wants to hear.
    func begin(_ id: String, _ header: JSONNode) {
        let now = Timestamp.now
        let claims: TokenIssuer.Claims
        do {
            claims = try door.issuer.check(header["token"]?.string ?? "", at: now)
        } catch {
            door.log.info("chat server: a client's token was refused: \(error)")
            return reply(to: id, code: 401, errorCode: error.rawValue, "\(error)")
        }
        guard !refuse(id, claims.identity) else { return }
        guard identity == "" || identity == claims.identity else {
            return reply(to: id, code: 403, errorCode: 51215, "The connection is of another identity")
        }
        let asked = (header["capabilities"]?.elements).map { Set($0.compactMap(\.string)) } ?? []
        let registrations = registrations(header)
        let session = Session(
            identity: claims.identity, claims: claims, warnAt: warning(claims, at: now),
            wantsUpdates: asked.contains("client_update"),
            registered: Dictionary(
                registrations.map { ($0.context, $0.types) }, uniquingKeysWith: { first, _ in first }))
        state.withLock { state in
            state.session = session
            state.closing = nil
        }
        let frame = acceptance(
            id, claims.identity, asked: asked, registrations, token: header["continuation_token"]?.string)
        door.hall.take { world in
            // An identity that a token names is short enough to be a user.
            _ = try? world.user(claims.identity, at: now)
            world.noteProgram(claims.identity)
            world.setOnline(true, claims.identity, at: now)
            return { audience in
                for listener in audience.listeners(of: claims.identity) { listener.giveUpName() }
                audience.enter(self)
                self.outbox.add(.frame(frame))
            }
        }
    }

    private func refuse(_ id: String, _ identity: String) -> Bool {
        let fault = door.faults.take(for: identity) { fault -> Fault.Kind? in
            if case .refuseInit = fault { fault } else { nil }
        }
        guard case .refuseInit(let status, let code, let backoff) = fault else { return false }
        outbox.add(
            .frame(
                replyFrame(
                    to: id, code: status, errorCode: code, TwilioAnswer.words(for: status),
                    payload: backoff.map { Self.backoffPolicy($0) } ?? [])))
        return true
    }

    struct Registration {
        let context: String
        let product: String
        let type: String
        let types: Set<String>
        let inOrder: [String]
    }

    private func registrations(_ header: JSONNode) -> [Registration] {
        guard let list = header["registrations"], list.kind == .array else { return [] }
        return list.elements.map { entry in
            let types = (entry["message_types"]?.elements).map { $0.compactMap(\.string) } ?? []
            return Registration(
                context: SID.fresh(.message).text, product: entry["product"]?.string ?? "",
                type: entry["type"]?.string ?? "ers", types: Set(types), inOrder: types)
        }
    }

    private func acceptance(
        _ id: String, _ identity: String, asked: Set<String>, _ registrations: [Registration], token: String?
    ) -> [UInt8] {
        let known = ["client_update", "offline_storage", "telemetry.v1", "account_descriptor"]
        let continuation = ContinuationToken(issuer: door.issuer, identity: identity)
        let isGood = token.map(continuation.isGood) ?? false
        return replyFrame(to: id) { writer in
            writer.array("capabilities") { writer in
                for capability in known where asked.contains(capability) { writer.value(capability) }
            }
            writer.member("continuation_token", isGood ? token ?? "" : continuation.fresh())
            writer.object("continuation_token_status") { writer in
                writer.member("reissued", !isGood)
                guard !isGood else { return }
                writer.member("reissue_reason", token == nil ? "MISSING" : "MISMATCH")
                writer.member(
                    "reissue_message",
                    token == nil
                        ? "Continuation token is not provided" : "Continuation token is of another session")
            }
            if asked.contains("offline_storage") {
                writer.object("offline_storage") { writer in
                    for product in ["ip_messaging", "data_sync"] {
                        writer.object(product) { $0.member("storage_id", storageID(product, identity)) }
                    }
                }
            }
            if asked.contains("account_descriptor") {
                writer.object("account_descriptor") { writer in
                    writer.member("account_sid", links.names.account.text)
                    writer.object("instance_sids") { $0.member("ip_messaging", links.names.service.text) }
                    writer.member("identity", identity)
                }
            }
            writer.array("init_registrations") { writer in
                for registration in registrations {
                    writer.object { writer in
                        writer.member("notification_ctx_id", registration.context)
                        writer.member("product", registration.product)
                        writer.member("type", registration.type)
                        writer.array("message_types") { for type in registration.inOrder { $0.value(type) } }
                    }
                }
            }
        }
    }

    /// The same for the same user of the same service, so that clients may keep things under it.
    private func storageID(_ product: String, _ identity: String) -> String {
        Hex.encode(Digest.sha256(Array("\(links.names.service) \(product) \(identity)".utf8)))
    }
}

/// What a client shows to go on with a session: an identity, signed.
struct ContinuationToken {
    let issuer: TokenIssuer
    let identity: String

    func fresh() -> String {
        let session: JSON = [
            "format": "steward-1", "endpoint": .string(SID.fresh(.message).text),
            "identity": .string(identity),
        ]
        let text = Base64.url.encode(session.bytes())
        return text + "." + signature(of: text)
    }

    func isGood(_ token: String) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, constantTimeEqual(String(parts[1]), signature(of: String(parts[0]))),
            let session = Base64.url.decode(String(parts[0])).flatMap({ try? JSON(parsing: $0) })
        else { return false }
        return session["identity"]?.string == identity
    }

    private func signature(of text: String) -> String {
        Base64.url.encode(
            HMAC.sha256(key: Array(issuer.names.secret.utf8), data: Array("continuation \(text)".utf8)))
    }
}
