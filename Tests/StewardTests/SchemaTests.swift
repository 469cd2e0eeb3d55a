import Foundation
import JSON
import Rules
import Testing
import YAML

@testable import steward

/// As much of JSON Schema as the schemas of rules files and `config.yaml` use.
struct SchemaCheck {
    let root: JSON

    /// Why a node does not fit; empty when it does.
    func mistakes(_ node: YAMLNode, _ schema: JSON, at path: String = "") -> [String] {
        if let reference = schema["$ref"]?.string {
            let name = String(reference.split(separator: "/").last ?? "")
            guard let definition = root["$defs"]?[name] else { return ["\(path): no definition \(name)"] }
            return mistakes(node, definition, at: path)
        }
        if let forms = schema["anyOf"]?.array {
            let all = forms.map { mistakes(node, $0, at: path) }
            return all.contains([]) ? [] : ["\(path): fits none of \(forms.count) forms"]
        }
        for schema in schema["allOf"]?.array ?? [] {
            let all = mistakes(node, schema, at: path)
            guard all.isEmpty else { return all }
        }
        if let forms = schema["oneOf"]?.array {
            let fitting = forms.count { mistakes(node, $0, at: path).isEmpty }
            guard fitting == 1 else { return ["\(path): fits \(fitting) of \(forms.count) forms"] }
        }
        if let words = schema["enum"]?.array {
            return words.contains { $0.string == node.text }
                ? [] : ["\(path): \(node.text ?? "?") is not allowed"]
        }
        var types = schema["type"]?.array?.compactMap(\.string) ?? []
        if let type = schema["type"]?.string { types = [type] }
        let isWhole = types.contains("integer") && node.text.flatMap(Int64.init) != nil
        if !types.isEmpty, !isWhole, !types.contains(Self.type(of: node)) {
            return ["\(path): is not \(types)"]
        }
        if let pattern = schema["pattern"]?.string,
            node.text?.range(of: pattern, options: .regularExpression) == nil
        {
            return ["\(path): \(node.text ?? "?") does not match"]
        }
        var result: [String] = []
        if let entries = node.entries {
            if let most = schema["maxProperties"]?.int, entries.count > most {
                result.append("\(path): too many keys")
            }
            if let least = schema["minProperties"]?.int, entries.count < least {
                result.append("\(path): too few keys")
            }
            for name in schema["required"]?.array?.compactMap(\.string) ?? [] where node[name] == nil {
                result.append("\(path): \(name) is missing")
            }
            for entry in entries {
                let name = entry.key.text ?? ""
                if let inner = schema["properties"]?[name] {
                    result += mistakes(entry.value, inner, at: "\(path)/\(name)")
                } else if let inner = schema["additionalProperties"] {
                    if inner.bool == false {
                        result.append("\(path)/\(name): unknown key")
                    } else {
                        result += mistakes(entry.value, inner, at: "\(path)/\(name)")
                    }
                }
            }
        }
        if let least = schema["minItems"]?.int, let items = node.items, items.count < least {
            result.append("\(path): too few items")
        }
        for (number, item) in (node.items ?? []).enumerated() {
            if let inner = schema["items"] { result += mistakes(item, inner, at: "\(path)/\(number)") }
        }
        return result
    }

    private static func type(of node: YAMLNode) -> String {
        switch node.kind {
        case .scalar(let text, let style):
            guard style == .plain else { return "string" }
            if text.isEmpty { return "null" }
            return ["true", "false"].contains(text) ? "boolean" : Double(text) != nil ? "number" : "string"
        case .sequence: return "array"
        case .mapping: return "object"
        case .unreadable: return "unreadable"
        }
    }
}

@Suite struct Schema {
    static let schema = SchemaCheck(root: SchemaCommand.schema(LanguageReference()))

    static func mistakes(_ text: String) -> [String] {
        guard let root = YAMLDocument.read(Array(text.utf8)).root else { return ["no YAML"] }
        return schema.mistakes(root, schema.root)
    }

    static let shipped: [URL] = {
        let folder = Architecture.sources.deletingLastPathComponent().appending(path: "bots")
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "yaml" }
    }()

    @Test(arguments: shipped)
    func `the bots that come with steward fit the schema for editors`(_ file: URL) throws {
        #expect(Self.mistakes(try String(contentsOf: file, encoding: .utf8)) == [])
    }

    @Test(arguments: Documentation.snippets(beginning: "version:"))
    func `each rule that a page shows fits the schema`(_ snippet: Documentation.Snippet) {
        #expect(Self.mistakes(snippet.text) == [])
    }

    @Test(arguments: [
        ("version: 1\nrule: {}", ["/rule: unknown key"]),
        ("vars: {a: b}", [": version is missing"]),
        ("version: 1\nrules: {a: {when: messageAdded}}", ["/rules/a: do is missing"]),
        (
            "version: 1\nrules: {a: {when: messageAdded, cooldwn: 5m, do: [stop]}}",
            ["/rules/a/cooldwn: unknown key"]
        ),
        ("version: 1\nrules: {a: {when: mesageAdded, do: [stop]}}", ["/rules/a/when: fits none of 3 forms"]),
        (
            "version: 1\nrules: {a: {when: messageAdded, do: [delte]}}",
            ["/rules/a/do/0: fits none of 2 forms"]
        ),
        (
            "version: 1\nrules: {a: {when: messageAdded, also: off, do: [stop]}}",
            [#"/rules/a/also: is not ["boolean"]"#]
        ),
        (
            "version: 1\nrules: {a: {when: messageAdded, if: {text: {has_any: x, fold: lose}}, do: [stop]}}",
            ["/rules/a/if: fits none of 2 forms"]
        ),
        (
            "version: 1\nrules: {a: {when: messageAdded, do: [{reply: a, send: b}]}}",
            ["/rules/a/do/0: fits none of 2 forms"]
        ),
        (stepping("restart"), []), (stepping("reconnect"), []),
        (stepping("restart: 5m"), []), (stepping("{at: 5m, expect: nothing}"), []),
        (stepping("rstart"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("nothing"), []), (expecting("[delete, {reply: hi, count: 2}, {mute: 5m}]"), []),
        (expecting("{dm: {text: hi, to: ana}}"), []), (expecting("{delete: burst, count: 7}"), []),
        (expecting("nothin"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("[nothing]"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("[]"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("[{reply: a, send: b}]"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("[{count: 2}]"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("[{reply: {txt: a}}]"), ["/tests/0/steps/0: fits none of 2 forms"]),
        (expecting("[{wait: 5m}]"), ["/tests/0/steps/0: fits none of 2 forms"]),
    ])
    func `the schema finds planted mistakes`(_ text: String, _ expected: [String]) {
        #expect(Self.mistakes(text) == expected)
    }

    private static func expecting(_ what: String) -> String {
        "version: 1\ntests: [{name: x, steps: [{say: hi, expect: \(what)}]}]"
    }

    private static func stepping(_ what: String) -> String {
        "version: 1\ntests: [{name: x, steps: [\(what)]}]"
    }

    @Test func `every reference of the schema leads somewhere`() {
        func references(_ json: JSON) -> [String] {
            switch json {
            case .object(let object):
                object.flatMap { $0.key == "$ref" ? [$0.value.string ?? ""] : references($0.value) }
            case .array(let items): items.flatMap(references)
            default: []
            }
        }
        let names = Set(Self.schema.root["$defs"]?.object?.keys.map { "#/$defs/\($0)" } ?? [])
        #expect(Set(references(Self.schema.root)).isSubset(of: names))
        #expect(names.count > 15)
    }
}

@Suite struct SchemaOfConfiguration {
    static let schema = SchemaCheck(root: ConfigSchema.json)

    static func mistakes(_ text: String) -> [String] {
        guard let root = YAMLDocument.read(Array(text.utf8)).root else { return ["no YAML"] }
        return schema.mistakes(root, schema.root)
    }

    @Test(arguments: ["config.yaml", "systemd/config.yaml"])
    func `the configuration that comes with steward fits its schema`(_ name: String) throws {
        let file = Architecture.sources.deletingLastPathComponent().appending(path: name)
        #expect(Self.mistakes(try String(contentsOf: file, encoding: .utf8)) == [])
    }

    @Test(arguments: Documentation.snippets(beginning: "accounts:", "server:"))
    func `each configuration that a page shows fits the schema`(_ snippet: Documentation.Snippet) {
        #expect(Self.mistakes(snippet.text) == [])
    }

    private static let account = "{service: twilio, identity: s, token: {file: t}}"

    /// Lines beside an account that is right, and what the schema says of them; the reader refuses each, too.
    @Test(arguments: [
        ("chanels: {}", ["/chanels: unknown key"]),
        ("bots: [a]", [#"/bots: is not ["string", "number", "boolean"]"#]),
        ("require: town", [#"/require: is not ["array"]"#]),
        ("storage: {fil: x}", ["/storage/fil: unknown key"]),
        ("storage: {keep_events: 7}", [#"/storage/keep_events: is not ["string"]"#]),
        ("storage: {keep_events: 7x}", ["/storage/keep_events: 7x does not match"]),
        ("storage: {key: open-to-everybody}", ["/storage/key: open-to-everybody does not match"]),
        ("limits: {behind: many}", [#"/limits/behind: is not ["integer"]"#]),
        ("log: {level: loud}", ["/log/level: loud is not allowed"]),
        ("server: {faults: off}", [#"/server/faults: is not ["boolean"]"#]),
        ("server: {listn: a}", ["/server/listn: unknown key"]),
        ("plugins: {lastseen: {}}", ["/plugins/lastseen: unknown key"]),
        ("plugins: {last-seen: {keep: 90d}}", ["/plugins/last-seen/keep: unknown key"]),
        ("plugins: {last-seen: {settings: {kep: 90d}}}", ["/plugins/last-seen/settings/kep: unknown key"]),
        ("channels: {lobby: general}", [#"/channels/lobby: is not ["object"]"#]),
        ("roles: {mo: {users: ana}}", [#"/roles/mo/users: is not ["array"]"#]),
        ("roles: {mo: {town: {a: b}}}", ["/roles/mo/town: fits none of 2 forms"]),
    ])
    func `the schema of config.yaml finds planted mistakes`(_ line: String, _ expected: [String]) {
        let text = "accounts: {town: \(Self.account)}\n\(line)"
        #expect(Self.mistakes(text) == expected)
        #expect(throws: ConfigError.self) {
            try ConfigReader.read(Array(text.utf8), file: "config.yaml", environment: [:])
        }
    }

    @Test(arguments: [
        ("{}", false), ("{a: {}}", false), ("{a: {identity: s, token: {file: t}}}", false),
        ("{a: {service: twilio, identity: s}}", false),
        ("{a: {service: twilo, identity: s, token: {file: t}}}", false),
        ("{a: {service: twilio, identity: s, token: {}}}", false),
        ("{a: {service: twilio, identity: s, token: {file: t, command: c}}}", false),
        ("{a: {service: twilio, identity: s, token: {file: t, method: POST}}}", false),
        ("{a: {service: twilio, identity: s, token: {url: \"https://e.org/t\", metod: POST}}}", false),
        ("{a: {service: twilio, identity: s, token: {sign: {account: AC1}}}}", false),
        ("{a: {service: twilio, identity: s, token: {command: [a, b]}, product: chat}}", true),
        ("{a: {service: twilio, identity: s, token: {command: a}, product: chats}}", false),
        ("{a: {service: sendbird, app: \"01234567-89ab-cdef-0123-456789abcdef\", user: s}}", true),
        (
            "{a: {service: sendbird, app: \"01234567-89ab-cdef-0123-456789abcdef\", user: s, token: plain}}",
            false
        ),
        (
            "{a: {service: sendbird, app: \"01234567-89ab-cdef-0123-456789abcdef\", user: s, token: {file: t}}}",
            true
        ),
        ("{a: {service: matrix, homeserver: e.org}}", false),
        ("{a: {service: matrix, homeserver: e.org, login: {user: s, pasword: x}}}", false),
        (
            "{a: {service: matrix, homeserver: e.org, login: {user: s, password: \"${env:P}\"}, typing: yes}}",
            false
        ),
        ("{a: {service: matrix, homeserver: e.org, login: {user: s, password: \"${env:P}\"}}}", true),
    ])
    func `the schema takes what the reader takes of accounts, and nothing else`(
        _ accounts: String, _ fits: Bool
    ) {
        let text = "accounts: \(accounts)"
        #expect(Self.mistakes(text).isEmpty == fits)
        let config = try? ConfigReader.read(Array(text.utf8), file: "config.yaml", environment: ["P": "x"])
        #expect((config != nil) == fits)
    }
}
