package import Chat
internal import JSON

extension TwilioService {
    /// What each of our channels lets us do. A client sees only which role it has; what a role of the customer's own allows
    /// is known when it is tried.
    package func rights() async -> [ChannelRights] {
        guard let book = reader.book else { return [] }
        let everywhere = await roleEverywhere()
        return book.openChannels.map { state in
            let here = state.member(book.own.text)?.roles ?? []
            let roles = here + [everywhere].compactMap(\.self)
            var rights = ChannelRights(channel: state.channel, roles: roles)
            if roles.contains(where: Self.admins.contains) {
                rights.allowed = Self.rightsOfAdmins
            } else if !here.isEmpty, everywhere != nil, roles.allSatisfy(Self.users.contains) {
                rights.denied = Self.rightsOfAdmins
            }
            return rights
        }.sorted { ($0.channel.title, $0.channel.id.text) < ($1.channel.title, $1.channel.id.text) }
    }

    /// The role that counts in every channel; nil when it cannot be had.
    private func roleEverywhere() async -> String? {
        guard let connection, let configuration else { return nil }
        let url = "\(configuration.users)/\(configuration.identity.percentEncoded)"
        guard let answer = try? await fetchIfThere(url, on: connection),
            let sid = answer.json["role_sid"]?.string
        else { return nil }
        return settings.roleWords[sid] ?? sid
    }

    /// The roles that every chat service begins with. Source: Twilio's documentation of roles and permissions.
    private static let admins: Set = ["channel admin", "service admin"]
    private static let users: Set = ["channel user", "service user"]
    /// Of these `deleteAnyMessage`, `removeParticipant` and `editAnyMessageAttributes`.
    private static let rightsOfAdmins: Set = ["delete", "kick", "react"]
}
