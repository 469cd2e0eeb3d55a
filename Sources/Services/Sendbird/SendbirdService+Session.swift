internal import Chat
internal import JSON

extension SendbirdService {
    /// Gets another key for our session, unless that key was replaced already; one attempt at a time, however many ask.
    /// Nil when there is one.
    @discardableResult
    func renew(instead used: String?) async -> SendbirdFailure? {
        if let renewing { return await renewing.value }
        guard login.key == used, let connection else { return nil }
        let task = Task { () -> SendbirdFailure? in
            let failure = await self.renewNow(on: connection)
            self.renewing = nil
            return failure
        }
        renewing = task
        return await task.value
    }

    /// Three tries: through the socket, and over HTTP when it does not answer there. After that the next log-in has to show
    /// what is wrong.
    private func renewNow(on connection: SendbirdConnection) async -> SendbirdFailure? {
        var failure = SendbirdFailure.notConnected("no token")
        for attempt in 1...3 {
            if attempt > 1, (try? await clock.sleep(timing.renewal)) == nil { break }
            let token: AccessToken
            do {
                token = try await keeper.current()
            } catch {
                failure = .notConnected("\(error)")
                continue
            }
            do {
                let answer =
                    attempt == 2
                    ? try await renewOverHTTP(token) : try await renewOverSocket(token, on: connection)
                try json.read(answer.bytes()) { node in
                    let key = (node["new_key"]?.words) ?? node["key"]?.words
                    login.token = token
                    login.renew(
                        key, life: SendbirdLogin.life(until: node["expires_at"], from: serverNow),
                        at: clock.now())
                }
                log.debug("the session goes on with another key")
                return nil
            } catch let error as SendbirdFailure {
                failure = error
                guard case .refused(let refusal) = error else { continue }
                if refusal.isFinal {
                    order(.final("the session is over: \(refusal)"), on: connection)
                    return failure
                }
                if refusal.isTokenRefusal { await keeper.invalidate(token) }
            } catch {
                failure = .unknown("\(error)")
            }
        }
        log.warning("the session could not be renewed: \(failure.reason); connecting again")
        order(.sessionEnded("the session could not be renewed: \(failure.reason)"), on: connection)
        return failure
    }

    /// Ends the connection from elsewhere than where it is read.
    func order(_ end: SendbirdEnd, on connection: SendbirdConnection) {
        ordered = ordered ?? end
        connection.kill()
    }

    private func renewOverSocket(
        _ token: AccessToken, on connection: SendbirdConnection
    ) async throws(SendbirdFailure) -> JSON {
        var body: JSONObject = ["expiring_session": 1]
        if !token.text.isEmpty { body["token"] = .string(token.text) }
        return try await connection.ask(
            "LOGI", body, id: SendbirdConnection.newID(), until: clock.now() + timing.reply, clock: clock)
    }

    private func renewOverHTTP(_ token: AccessToken) async throws(SendbirdFailure) -> JSON {
        let path = "/users/\(settings.user.percentEncoded)/session_key"
        return try await send(
            SendbirdRequest(
                "POST", path, ["expiring_session": true, "services": ["chat"]], credential: .token(token)))
    }

    /// What the server's clock should show.
    private var serverNow: Timestamp {
        guard let then = login.serverTime, let at = login.at else { return clock.now() }
        return then + (clock.now() - at)
    }
}
