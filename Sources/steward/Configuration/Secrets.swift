internal import FoundationEssentials

/// Resolves `${env:NAME}`, `${file:PATH}` and `${credential:NAME}` in a text of the configuration.
struct Secrets: Sendable {
    var environment: [String: String]
    /// Relative paths begin here.
    var folder: String

    /// True when the whole text is one reference.
    static func isReference(_ text: String) -> Bool {
        text.hasPrefix("${") && text.hasSuffix("}") && text.contains(":")
    }

    func resolve(_ text: String) throws(SecretError) -> String {
        guard text.contains("${") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            result += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                throw SecretError("\"${\" without \"}\"")
            }
            result += try value(of: String(rest[start.upperBound..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private func value(of reference: String) throws(SecretError) -> String {
        let parts = reference.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw SecretError(
                "\"${\(reference)}\" is not a reference",
                hint: "write ${env:NAME}, ${file:PATH} or ${credential:NAME}")
        }
        switch parts[0] {
        case "env":
            guard let value = environment[parts[1]] else {
                throw SecretError("the environment has no \(parts[1])", hint: "set it before steward starts")
            }
            return value
        case "file":
            return try contents(of: parts[1].hasPrefix("/") ? parts[1] : "\(folder)/\(parts[1])")
        case "credential":
            guard let credentials = environment["CREDENTIALS_DIRECTORY"] else {
                throw SecretError(
                    "there is no credentials directory for \"\(parts[1])\"",
                    hint:
                        "add LoadCredential=\(parts[1]):FILE to the unit, or use ${file:PATH} outside systemd"
                )
            }
            return try contents(of: "\(credentials)/\(parts[1])")
        default:
            throw SecretError(
                "unknown kind of reference \"\(parts[0])\"", hint: "use env, file or credential")
        }
    }

    /// A file's text without the line end that editors add.
    private func contents(of path: String) throws(SecretError) -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SecretError("\(path) cannot be read", hint: "does it exist, and may this user read it?")
        }
        guard var text = String(validating: data, as: UTF8.self) else {
            throw SecretError("\(path) is not UTF-8 text")
        }
        while text.last?.isNewline == true { text.removeLast() }
        guard !text.isEmpty else { throw SecretError("\(path) is empty") }
        return text
    }
}

/// A reference that leads nowhere.
struct SecretError: Error {
    var problem: String
    var hint: String?

    init(_ problem: String, hint: String? = nil) {
        self.problem = problem
        self.hint = hint
    }
}
