internal import Chat
internal import JSON

/// How a client comes in and stays in.
extension SendbirdConnection {
    /// The server speaks first: the client has said all in the way it opened the socket.
    func begin(_ login: SendbirdLogin) {
        let now = Timestamp.now
        let fault = door.faults.take(for: login.identity) { fault -> Fault.Kind? in
            switch fault {
            case .busy, .refuseInit: fault
            default: nil
            }
        }
        switch fault {
        case .busy(let seconds): return sayBusy(seconds)
        case .refuseInit(_, let code, _):
            return sendAway(.init(code ?? 400302, "refused for a test"))
        default: break
        }
        door.hall.take { world in
            let session: SendbirdKeys.Session
            do throws(SendbirdRefusal) {
                session = try login.session(at: door, &world, at: now)
            } catch {
                return { _ in
                    self.door.refusals.note(login.remote, "/", "log-in refused (\(error.code))")
                    self.sendAway(error)
                }
            }
            let identity = session.identity
            // Names that were proven by a token are not for others.
            if session.isProven { world.noteProgram(identity) }
            world.setOnline(true, identity, at: now)
            let joined = world.memberships(of: identity)
                .filter { $0.status == .joined && world.channels[$0.channel]?.profile.traits.isOpen == false }
            let welcome = self.welcome(session, world)
            return { audience in
                self.state.withLock { state in
                    state.session = session
                    state.takesGzip = login.takesGzip
                    state.hearsEnd = login.hearsEnd
                    state.joined = Set(joined.map(\.channel))
                }
                if session.isProven {
                    for listener in audience.listeners(of: identity) { listener.giveUpName() }
                }
                audience.enter(self, hearsAll: true)
                self.say(welcome)
            }
        }
    }

    func sayBusy(_ seconds: Int) {
        say("BUSY") { writer in
            writer.member("retry_after", seconds)
            writer.member("reason_code", 400599)
            writer.member("message", "The server is busy.")
        }
        outbox.finish()
    }

    private func sendAway(_ refusal: SendbirdRefusal) {
        say("LOGI") { writer in
            writer.member("error", true)
            writer.member("code", refusal.code)
            writer.member("message", refusal.message)
        }
        outbox.finish()
    }

    private func welcome(_ session: SendbirdKeys.Session, _ world: World) -> [UInt8] {
        let sendbird = door.settings.sendbird
        return SendbirdFrame.make("LOGI") { writer in
            if let person = world.users[session.identity]?.person {
                SendbirdShapes.user(person, .http, &writer)
            }
            keys(of: session, named: "key", &writer)
            writer.member("login_ts", session.issued.milliseconds)
            writer.member("ping_interval", sendbird.pingInterval)
            writer.member("pong_timeout", sendbird.pongTimeout)
            writer.object("reconnect") { writer in
                writer.member("interval", sendbird.reconnect.interval)
                writer.member("max_interval", sendbird.reconnect.longest)
                writer.member("mul", sendbird.reconnect.factor)
                writer.member("retry_cnt", sendbird.reconnect.tries)
            }
            writer.member("max_unread_cnt_on_super_group", 100)
            writer.member("concurrent_call_limit", 5)
            writer.member("back_off_delay", 100)
            writer.member("request_dedup_interval_ms", 500)
            writer.object("unread_cnt") { writer in
                writer.member("all", world.unreadMessages(of: session.identity))
                writer.member("feed", 0)
                writer.object("custom_types") { _ in }
                writer.member("ts", session.issued.milliseconds)
            }
            writer.member("emoji_hash", "")
            writer.member("use_reaction", true)
            writer.member("file_upload_size_limit", door.settings.mediaBytes / (1024 * 1024))
            writer.member("multiple_file_send_max_size", door.settings.limits.mediaOfMessage)
            writer.array("premium_feature_list") { $0.value("delivery_receipt") }
            writer.array("application_attributes") { _ in }
            writer.member("disable_supergroup_mack", false)
        }
    }

    private func keys(
        of session: SendbirdKeys.Session, named name: String, _ writer: inout JSONWriter
    ) {
        writer.member(name, door.keys.key(for: session))
        writer.member("ekey", String(door.keys.key(for: session).suffix(32)))
        writer.member("expires_at", session.ends.milliseconds / 1000)
        writer.array("services") { $0.value("chat") }
    }

    /// `LOGI` of a client that is in: a new key for the old one.
    func renew(_ request: JSON, _ fields: JSON) {
        let identity = identity
        let now = Timestamp.now
        let fault = door.faults.take(for: identity) { fault -> Int? in
            if case .refuseUpdate(_, let code) = fault { code ?? 400302 } else { nil }
        }
        let result: Result<SendbirdKeys.Session, SendbirdRefusal> = door.hall.look { world in
            do throws(SendbirdRefusal) {
                if let fault { throw .init(fault, "refused for a test") }
                let token = fields["token"]?.string ?? ""
                return .success(try door.renewed(identity, token.isEmpty ? nil : token, world, at: now))
            } catch {
                return .failure(error)
            }
        }
        if case .success(let session) = result {
            state.withLock { state in
                state.session = session
                state.isWarned = false
            }
        }
        say("LOGI") { writer in
            writer.member("req_id", request)
            switch result {
            case .success(let session): keys(of: session, named: "new_key", &writer)
            case .failure(let refusal):
                writer.member("error", true)
                writer.member("code", refusal.code)
                writer.member("message", refusal.message)
            }
        }
    }
}

extension SendbirdDoor {
    /// A session in place of one that ends, for a token that is good.
    func renewed(
        _ identity: String, _ token: String?, _ world: World, at now: Timestamp
    ) throws(SendbirdRefusal) -> SendbirdKeys.Session {
        guard let person = world.users[identity]?.person else {
            throw .init(400301, "There is no such user.")
        }
        guard person.isActive else { throw .init(400300, "The user is deactivated.") }
        guard let token else {
            guard settings.secret == nil, person.accessSerial == 0, person.sessionSerial == 0,
                world.reservation(of: identity) == nil
            else { throw .wrongToken }
            return begin(
                identity, tokenEnds: .never, serial: person.sessionSerial, isProven: false, at: now)
        }
        let ends = try keys.check(token, of: identity, person, at: now)
        return begin(identity, tokenEnds: ends, serial: person.sessionSerial, isProven: true, at: now)
    }
}

extension World {
    /// How many messages of others `identity` has not read, in all channels that are not open.
    func unreadMessages(of identity: String) -> Int {
        memberships(of: identity).reduce(0) { sum, membership in
            guard let channel = channels[membership.channel], !channel.profile.traits.isOpen else {
                return sum
            }
            return sum + unread(in: channel, for: identity)
        }
    }
}
