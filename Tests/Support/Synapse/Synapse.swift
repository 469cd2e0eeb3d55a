import HTTP
import JSON
import Peers
package import Testing

/// A real Matrix homeserver on this machine, for tests.
package final class Synapse: Sendable {
    /// Its address, `http://127.0.0.1:PORT`, which stays the same when it is started again.
    package let homeserver: String
    /// The domain in the ids of its people.
    package let serverName: String
    /// The token of an application service that may speak for all users whose name begins with `service`.
    package let serviceToken: String
    private let keeper: Peer
    private let http = HTTPClient()
    private let admin: MatrixPerson

    /// The server of this test run; the first who asks starts it, and it ends with the process.
    package static func shared() async throws -> Synapse { try await one.server() }

    /// A server of one's own, with nothing in it, that ends when nobody holds it any more.
    ///
    /// `accessLife` is how long tokens live that were got with a refresh token; `messageRate` how many messages
    /// everybody may send a second, and at once.
    package static func start(
        accessLife: String = "5s", messageRate: String = "10000/10000"
    ) async throws -> Synapse {
        guard isInstalled else { throw SynapseError("Synapse is not installed: make synapse") }
        let folder = "\(installed)-run-\(UInt64.random(in: 0 ... .max))"
        // A session of its own: what ends us must not end it before it has ended the server.
        let keeper = try Peer(running: [
            "setsid", support + "start-synapse", "run", folder, "--venv", installed, "--users", "admin",
            "--access-life", accessLife, "--message-rate", messageRate,
        ])
        var values: [String: String] = [:]
        while let line = await keeper.line(), line != "ready" {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        guard let homeserver = values["MATRIX_HOMESERVER"], let name = values["MATRIX_SERVER_NAME"],
            let token = values["MATRIX_SERVICE_TOKEN"]
        else { throw SynapseError("Synapse did not start; what it wrote is above") }
        return try await Synapse(homeserver: homeserver, name: name, token: token, keeper: keeper)
    }

    private init(homeserver: String, name: String, token: String, keeper: Peer) async throws {
        self.homeserver = homeserver
        serverName = name
        serviceToken = token
        self.keeper = keeper
        admin = try await MatrixPerson.login("admin", password: "admin-pass", at: homeserver, with: http)
    }

    /// Somebody new, logged in; the name gets a number that makes it the only one.
    package func person(_ name: String) async throws -> MatrixPerson {
        let name = "\(name)-\(UInt32.random(in: 0 ... .max))"
        let password = "\(name)-pass"
        try await admin.call(
            "PUT", "/_synapse/admin/v2/users/\(MatrixPerson.escape("@\(name):\(serverName)"))",
            ["password": .string(password), "displayname": .string(name)])
        return try await MatrixPerson.login(name, password: password, at: homeserver, with: http)
    }

    /// Lets a user send only so many messages a second, and so many at once; nil ends that.
    package func limit(_ user: String, _ rate: (perSecond: Int, burst: Int)?) async throws {
        let path = "/_synapse/admin/v1/users/\(MatrixPerson.escape(user))/override_ratelimit"
        guard let rate else {
            try await admin.call("DELETE", path)
            return
        }
        try await admin.call(
            "POST", path, ["messages_per_second": JSON(rate.perSecond), "burst_count": JSON(rate.burst)])
    }

    /// Ends a session of a user, at once and for good.
    package func logOut(_ user: String, device: String) async throws {
        try await admin.call(
            "DELETE", "/_synapse/admin/v2/users/\(MatrixPerson.escape(user))/devices/\(device)")
    }

    /// Still there, but deaf and silent.
    package func pause() async { await order("pause") }
    package func resume() async { await order("resume") }

    /// Gone from its address; `restart` brings it back with all it knew.
    package func stop() async { await order("stop") }
    package func restart() async { await order("start") }

    private func order(_ word: String) async {
        keeper.say(word)
        while let line = await keeper.line(), line != "done" {}
    }
}

/// Why there is no server.
package struct SynapseError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension Synapse {
    private static let support = String(#filePath.dropLast("Synapse.swift".count))
    private static let installed = support + "../../../.build/synapse"
    private static let one = Only()

    package static var isInstalled: Bool { exists(installed + "/installed") }

    /// Starts the one server of the run, once.
    private actor Only {
        private var starting: Task<Synapse, any Error>?

        func server() async throws -> Synapse {
            // Not a child task: the test that asks first must not take the server from the others.
            let task = starting ?? Task { try await Synapse.start() }
            starting = task
            return try await task.value
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that need the homeserver: they are skipped where it is not installed.
    package static var synapse: Self {
        .enabled(if: Synapse.isInstalled, "Synapse is not installed; make synapse does that")
    }
}
