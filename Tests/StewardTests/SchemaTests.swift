import Foundation
import JSON
import Rules
import Testing
import YAML

@testable import steward

/// As much of JSON Schema as the schema of rules files uses.
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
        if let words = schema["enum"]?.array {
            return words.contains { $0.string == node.text }
                ? [] : ["\(path): \(node.text ?? "?") is not allowed"]
        }
        var types = schema["type"]?.array?.compactMap(\.string) ?? []
        if let type = schema["type"]?.string { types = [type] }
        if !types.isEmpty, !types.contains(Self.type(of: node)) { return ["\(path): is not \(types)"] }
        var result: [String] = []
        if let entries = node.entries {
            if let most = schema["maxProperties"]?.int, entries.count > most {
                result.append("\(path): too many keys")
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
    ])
    func `the schema finds planted mistakes`(_ text: String, _ expected: [String]) {
        #expect(Self.mistakes(text) == expected)
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
