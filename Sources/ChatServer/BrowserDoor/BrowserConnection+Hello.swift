internal import Chat
internal import Crypto
internal import JSON

/// How a person comes in.
extension BrowserConnection {
    /// `{"do":"hello","name":"ana"}`: answered with all that they may see.
    ///
    /// A name that is an admin's, a program's or kept back for somebody with a role needs a proof: an access token for it, or the pass that was given for one.
    func enter(_ order: JSON) {
        guard identity == "" else { return refuse(order, "you are \(identity) already") }
        if let secret = door.settings.secret, !constantTimeEqual(order["secret"]?.string ?? "", secret) {
            door.refusals.note(remote, "/browser", "the password is wrong")
            return refuse(order, "the password is wrong", needs: "secret")
        }
        let name = order["name"]?.string ?? ""
        guard Self.isName(name) else { return refuse(order, Self.whatNamesAre) }
        let isProven = proves(order, name)
        if !isProven, let reservation = door.hall.look({ $0.reservation(of: name) }) {
            door.refusals.note(remote, "/browser", "\"\(name)\" without a token for it")
            return refuse(
                order,
                "\"\(name)\" is the name of \(reservation.words): come in with a token for it, or under another name",
                needs: "token")
        }
        state.withLock { state in
            state.identity = name
            state.isProven = isProven
        }
        let pass = isProven ? Self.pass(for: name, door.issuer) : nil
        let now = Timestamp.now
        door.hall.take { world in
            _ = try? world.user(name, at: now)
            world.setOnline(true, name, at: now)
            let joined = world.memberships(of: name).filter { $0.status == .joined }.map(\.channel)
            let welcome = BrowserShapes(identity: name).welcome(world, pass: pass)
            return { audience in
                self.state.withLock { $0.joined = Set(joined) }
                audience.enter(self, hearsAll: true)
                self.say(welcome)
            }
        }
    }

    private func proves(_ order: JSON, _ name: String) -> Bool {
        if let token = order["token"]?.string, !token.isEmpty,
            let claims = try? door.issuer.check(token, at: .now)
        {
            return claims.identity == name
        }
        guard let pass = order["pass"]?.string else { return false }
        return constantTimeEqual(pass, Self.pass(for: name, door.issuer))
    }

    /// Good as long as the server keeps its names: a token ends within a day, and a page may stay open longer.
    static func pass(for name: String, _ issuer: TokenIssuer) -> String {
        Base64.url.encode(
            HMAC.sha256(key: Array(issuer.names.secret.utf8), data: Array("page \(name)".utf8)))
    }

    /// The name needs a proof by now: whoever only said that it is theirs has to go.
    func giveUpName() {
        guard !state.withLock({ $0.isProven }) else { return }
        close(4001, "this name needs a token now")
    }

    static let whatNamesAre =
        "a name has 1 to 40 characters, no blank at either end, no line breaks and no invisible marks"

    static func isName(_ name: String) -> Bool {
        (1...40).contains(name.count) && name.first?.isWhitespace == false && name.last?.isWhitespace == false
            && isPlain(name)
    }

    /// Whether people see all that is in the name.
    static func isPlain(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            // Invisible marks make one name look like another.
            case .format: scalar == "\u{200D}"
            default: true
            }
        }
    }
}
