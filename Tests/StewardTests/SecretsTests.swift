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
