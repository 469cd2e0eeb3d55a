internal import Chat

/// The world from within, for tests and for a program that has the server in it.
extension ChatServer {
    /// Changes the world as `body` says; returns when it is stored and told to all who listen.
    @discardableResult
    package func change<Result: Sendable>(
        _ body: @Sendable (inout World) throws(WorldError) -> Result
    ) async throws(WorldError) -> Result {
        try await hall.change(body)
    }

    /// What `body` sees in the world now.
    package func look<Result: Sendable, Failure>(
        _ body: (World) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try hall.look(body)
    }

    /// A channel of that unique name, made by `creator` if there is none.
    @discardableResult
    package func channel(
        _ uniqueName: String, friendlyName: String? = nil, isPrivate: Bool = false,
        as creator: String = "system"
    ) async throws(WorldError) -> SID {
        try await change { world throws(WorldError) in
            try world.user(creator, at: .now)
            if let channel = try? world.channel(uniqueName, for: creator) { return channel.sid }
            return try world.createChannel(
                friendlyName: friendlyName ?? uniqueName, uniqueName: uniqueName, isPrivate: isPrivate,
                as: creator, at: .now
            ).sid
        }
    }

    @discardableResult
    package func join(_ channel: SID, as identity: String) async throws(WorldError) -> SID {
        try await change { world throws(WorldError) in
            try world.join(channel, identity, as: identity, at: .now).sid
        }
    }

    package func leave(_ channel: SID, as identity: String) async throws(WorldError) {
        try await change { world throws(WorldError) in
            guard let member = try world.channel(channel.text, for: identity).member(of: identity) else {
                throw .notMember
            }
            try world.remove(member.sid, from: channel, as: identity, at: .now)
        }
    }

    @discardableResult
    package func post(
        _ text: String, in channel: SID, as identity: String, attributes: String = "{}"
    ) async throws(WorldError) -> Message {
        try await change { world throws(WorldError) in
            try world.post(
                Message.Content(body: text, attributes: attributes), in: channel, as: identity, at: .now)
        }
    }

    package func delete(_ message: SID, in channel: SID, as identity: String) async throws(WorldError) {
        try await change { world throws(WorldError) in
            try world.delete(message, in: channel, as: identity, at: .now)
        }
    }

    /// All messages of a channel that are still there, in order.
    package func messages(in channel: SID) -> [Message] {
        look { world in
            world.channels[channel]?.messages.elements(from: 0) ?? []
        }
    }
}
