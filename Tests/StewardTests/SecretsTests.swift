import Chat
import Foundation
import Testing

@testable import steward

@Suite struct SecretReferences {
    let folder = FileManager.default.temporaryDirectory.appending(path: "steward-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("from a file\n".utf8).write(to: folder.appending(path: "key"))
        try Data().write(to: folder.appending(path: "nothing"))
    }

    func resolve(_ text: String, _ environment: [String: String] = [:]) throws -> String {
        try Secrets(environment: environment, folder: folder.path()).resolve(text)
    }

    @Test func `a reference is replaced by what it stands for, and text around it stays`() throws {
        #expect(try resolve("Bearer ${env:KEY}!", ["KEY": "abc"]) == "Bearer abc!")
        #expect(try resolve("${file:key}") == "from a file")
        #expect(try resolve("${file:\(folder.path())/key}") == "from a file")
        #expect(try resolve("${credential:key}", ["CREDENTIALS_DIRECTORY": folder.path()]) == "from a file")
        #expect(try resolve("plain $text {}") == "plain $text {}")
    }

    @Test func `what a reference stands for is not read again`() throws {
        #expect(try resolve("${env:A}", ["A": "${env:B}", "B": "no"]) == "${env:B}")
    }

    @Test(arguments: [
        ("${env:MISSING}", "the environment has no MISSING"),
        ("${file:nowhere}", "nowhere cannot be read"),
        ("${file:nothing}", "nothing is empty"),
        ("${credential:key}", "there is no credentials directory for \"key\""),
        ("${vault:key}", "unknown kind of reference \"vault\""),
        ("${KEY}", "\"${KEY}\" is not a reference"),
        ("${env:KEY", "\"${\" without \"}\""),
    ])
    func `a reference that leads nowhere says so`(_ text: String, _ problem: String) {
        let error = #expect(throws: SecretError.self) { try resolve(text) }
        #expect(error?.problem.hasSuffix(problem) == true)
    }
}

@Suite struct SecretsThatAreNotThere {
    private static let text = """
        server: {secret: "${credential:chat}", api_token: "${env:API}"}
        accounts:
          town:
            service: twilio
            identity: "${env:WHO}"
            product: "${env:PRODUCT}"
            token:
              sign: {account: "${env:AC}", key: "${env:SK}", secret: "${credential:tw}", service: "${file:is}"}
            join: [general]
          other:
            service: matrix
            homeserver: "${env:HOME_SERVER}"
            login: {user: bot, password: "${file:/nowhere/password}"}
        storage: {file: steward.db, key: "${credential:store-key}"}
        """

    @Test func `each is one mistake for who logs in, whatever else its key demands`() {
        let error = #expect(throws: ConfigError.self) {
            try ConfigReader.read(Array(Self.text.utf8), file: "config.yaml", environment: [:])
        }
        #expect(
            error?.mistakes.map { "\($0.place): \($0.problem)" } == [
                "1:18: there is no credentials directory for \"chat\"",
                "1:51: the environment has no API",
                "5:15: the environment has no WHO",
                "6:14: the environment has no PRODUCT",
                "8:23: the environment has no AC",
                "8:41: the environment has no SK",
                "8:62: there is no credentials directory for \"tw\"",
                "8:91: ./is cannot be read",
                "12:17: the environment has no HOME_SERVER",
                "13:34: /nowhere/password cannot be read",
                "14:34: there is no credentials directory for \"store-key\"",
            ])
    }

    @Test func `none is a mistake for who only looks, and the texts of cases stay closed`() throws {
        let config = try ConfigReader.read(
            Array(Self.text.utf8), file: "config.yaml", environment: [:], secrets: .unneeded)
        #expect(config.accounts.map(\.name) == ["town", "other"])
        #expect(config.directory.places(named: "general").count == 1)
        #expect(config.store == "steward.db")
        let error = #expect(throws: KeyMistake.self) { try EvidenceKey.forReading(config) }
        #expect(
            error?.description
                == "the key of the store (\"storage.key\") cannot be read: there is no credentials directory for \"store-key\" - add LoadCredential=store-key:FILE to the unit, or use ${file:PATH} outside systemd"
        )
    }

    @Test func `what is wrong beside them is found all the same`() {
        let error = #expect(throws: ConfigError.self) {
            try ConfigReader.read(
                Array(Self.text.replacing("join: [general]", with: "jion: [general]").utf8),
                file: "config.yaml", environment: [:], secrets: .unneeded)
        }
        #expect(error?.mistakes.map(\.problem) == ["unknown key \"jion\""])
    }
}

@Suite(.timeLimit(.minutes(2))) struct CommandsWithoutSecrets {
    @Test func `commands that only look work without the secrets, check and run name them`() async throws {
        let folder = try Tools.Folder([
            "config.yaml": """
            accounts:
              town:
                service: twilio
                identity: steward
                token: {url: "${env:NOWHERE_TO_BE_FOUND}"}
                join: [general]
            """
        ])
        try FileManager.default.createDirectory(
            atPath: folder.path + "/bots", withIntermediateDirectories: false)
        try folder.write("bots/bot.yaml", TestBed.bot)
        let config = folder.path + "/config.yaml"
        for words in [
            ["explain", "--say", "hi"], ["test"], ["rules"], ["docs", "--rules"],
        ] {
            #expect(await Steward.run(words + ["--config", config]) == .fine, "\(words)")
        }
        for words in [["check"], ["check", "--live"], ["run"]] {
            let program = try Program.file().path()
            let end = try await ChildProcess.run(
                [program] + words + ["--config", config], timeout: .seconds(60))
            #expect(end.exitCode == 78, "\(words)")
            let text = String(decoding: end.output + end.errors, as: UTF8.self)
            #expect(text.contains("config.yaml:5:18: error: the environment has no NOWHERE_TO_BE_FOUND"))
        }
    }
}
