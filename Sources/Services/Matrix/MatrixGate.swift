internal import Chat
internal import JSON

/// Where a homeserver lets us in: logs in, renews tokens and tells whose they are. It keeps nothing.
///
/// Source: client-server specification, "Client authentication" (legacy API) and "Refreshing access tokens".
struct MatrixGate: Sendable {
    let settings: MatrixSettings
    let server: Homeserver
    let clock: ServiceClock
    let log: Log

    // MARK: Refreshing

    /// Another pair of tokens; nil when the refresh tokens are of no use any more.
    func refreshed(_ session: MatrixSession) async throws(LoginFailure) -> MatrixSession? {
        // The one before works still if the newest has never arrived at the server.
        for token in [session.refresh, session.previous].compactMap(\.self) {
            let begun = clock.now()
            let answer = try await send(
                .post("refresh", body: ["refresh_token": .string(token)]), nil, "the token cannot be renewed")
            if answer.isFine {
                let json = answer.json
                guard let access = json["access_token"]?.string else {
                    throw LoginFailure(.again(after: nil), "the answer to a refresh has no access_token")
                }
                var new = session
                new.access = access
                new.refresh = json["refresh_token"]?.string ?? token
                new.previous = token
                new.received = begun
                new.expires = Self.end(json, from: begun)
                return new
            }
            // Refused: 401 by the specification, 403 by Synapse.
            guard [400, 401, 403, 404].contains(answer.status) else {
                throw LoginFailure(
                    .again(after: answer.retryAfter), "the token cannot be renewed: \(answer.reason)")
            }
            log.info("a refresh token was refused: \(answer.reason)")
        }
        return nil
    }

    private static func end(_ json: JSON, from begun: Timestamp) -> Timestamp? {
        json["expires_in_ms"]?.int.map { begun + .milliseconds(max($0, 0)) }
    }

    // MARK: Logging in

    /// A new log-in of that device; nil when the settings have neither password nor application service.
    func loggedIn(_ user: String, device: String) async throws(LoginFailure) -> MatrixSession? {
        var body: JSONObject = [
            "identifier": ["type": "m.id.user", "user": .string(user)], "device_id": .string(device),
            "initial_device_display_name": .string(settings.deviceName ?? "steward"), "refresh_token": true,
        ]
        var authorization: String?
        if let password = settings.login.password {
            body["type"] = "m.login.password"
            body["password"] = .string(password.reveal())
        } else if let service = settings.login.applicationService {
            body["type"] = "m.login.application_service"
            authorization = service.reveal()
        } else {
            return nil
        }
        let request = MatrixRequest.post("login", body: .object(body))
        var answer = try await send(request, authorization)
        // A user who is not there yet is told in as many ways as there are servers.
        if let authorization, !answer.isFine, !answer.isLimit,
            try await register(settings.login.user ?? "", authorization)
        {
            answer = try await send(request, authorization)
        }
        guard answer.isFine else { throw failure(of: answer) }
        let json = answer.json
        guard let access = json["access_token"]?.string, let user = json["user_id"]?.string else {
            throw LoginFailure(.again(after: nil), "the answer to a log-in has no access_token or no user_id")
        }
        let now = clock.now()
        return MatrixSession(
            user: user, device: json["device_id"]?.string, access: access,
            refresh: json["refresh_token"]?.string, expires: Self.end(json, from: now), received: now)
    }

    /// Makes the user of an application service; true when it is there now.
    private func register(_ user: String, _ token: String) async throws(LoginFailure) -> Bool {
        let name = user.hasPrefix("@") ? String(user.dropFirst().prefix { $0 != ":" }) : user
        let body: JSON = [
            "type": "m.login.application_service", "username": .string(name), "inhibit_login": true,
        ]
        return try await send(.post("register", body: body), token).isFine
    }

    // MARK: Whose a token is

    /// What is known of a token that was got elsewhere.
    enum Found {
        case session(MatrixSession)
        /// Refused, but not for who can renew it; nobody knows yet whose it is.
        case over(MatrixSession, String)
    }

    func session(of token: String, refresh: String?) async throws(LoginFailure) -> Found {
        let answer = try await send(.get("account", "whoami"), token)
        var session = MatrixSession(user: "", access: token, refresh: refresh, received: clock.now())
        if answer.isUnknownToken, refresh != nil {
            session.expires = session.received
            return .over(session, answer.reason)
        }
        guard answer.isFine, let user = answer.json["user_id"]?.string else {
            if answer.status == 401 || answer.status == 403 {
                throw LoginFailure(.never, "the token was refused (\(answer.reason)) - write another")
            }
            throw failure(of: answer)
        }
        session.user = user
        session.device = answer.json["device_id"]?.string
        guard !settings.login.isOther(session) else {
            throw LoginFailure(
                .never,
                "the token is \(user)'s and not \(settings.login.user ?? "")'s - correct one of the two")
        }
        return .session(session)
    }

    func owner(of access: String) async throws(LoginFailure) -> String {
        let answer = try await send(.get("account", "whoami"), access)
        if let user = answer.json["user_id"]?.string { return user }
        throw LoginFailure(.again(after: nil), "cannot log in: \(answer.reason)")
    }

    // MARK: Leaving

    /// Ends a log-in, without much patience.
    func logOut(_ session: MatrixSession) async {
        var request = MatrixRequest.post("logout")
        request.timeout = .seconds(3)
        _ = try? await server.send(request, token: session.access)
    }

    // MARK: Asking

    private func send(
        _ request: MatrixRequest, _ token: String?, _ what: String = "cannot log in"
    ) async throws(LoginFailure) -> MatrixAnswer {
        do throws(MatrixFailure) {
            return try await server.send(request, token: token)
        } catch {
            throw LoginFailure(.again(after: nil), "\(what): \(error.reason)")
        }
    }

    private func failure(of answer: MatrixAnswer) -> LoginFailure {
        let reason = "log-in refused (\(answer.reason))"
        switch answer.status {
        case 401, 403:
            // Locked, not closed: it may be opened again.
            if answer.code == "M_USER_LOCKED" { return LoginFailure(.again(after: nil), reason) }
            let user = settings.login.user ?? ""
            return LoginFailure(
                .never, "\(reason) - is \"\(user)\" right, and what it logs in with?")
        case 400, 404, 405:
            return LoginFailure(
                .never, "\(reason) - is \"homeserver\" right, and does it allow such log-ins?")
        default: return LoginFailure(.again(after: answer.retryAfter), reason)
        }
    }
}

extension MatrixSettings.Login {
    /// Whether the session is somebody else's than who is configured.
    func isOther(_ session: MatrixSession) -> Bool {
        guard let user else { return false }
        return user.hasPrefix("@")
            ? user != session.user : !session.user.lowercased().hasPrefix("@\(user.lowercased()):")
    }
}
