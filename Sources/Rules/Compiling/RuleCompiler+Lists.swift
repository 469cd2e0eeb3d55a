internal import Matching
internal import YAML

/// Word lists: read, checked, and put where their names stand.
extension RuleCompiler {
    func readLists() {
        var spots: [String: Spot] = [:]
        for file in files {
            for list in file.lists {
                if let first = spots.updateValue(list.name.spot, forKey: list.name.value) {
                    twice("list", list.name, first)
                    continue
                }
                lists[list.name.value] = list.file.map { read($0, for: list.name.value) } ?? list.words
                for word in lists[list.name.value] ?? [] {
                    if word.value.isListName { findings.error("a list cannot hold a list", at: word.spot) }
                    check(word)
                }
            }
        }
    }

    func read(_ path: Placed<String>, for name: String) -> [Placed<String>] {
        guard let bytes = list(path.value) else {
            findings.error("there is no file \"\(path.value)\" in the bots folder", at: path.spot)
            return []
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            findings.error("\"\(path.value)\" is not UTF-8", at: path.spot)
            return []
        }
        findings.add(YAMLSource(text: text), of: path.value)
        var words: [Placed<String>] = []
        for (index, line) in YAMLSource(text: text).lines.enumerated() {
            let written = line.prefix { $0 != "#" }
            let word = String(String.UnicodeScalarView(written)).trimmed.replacing("\u{FEFF}", with: "")
            guard !word.isEmpty else { continue }
            let indent = written.prefix { $0.properties.isWhitespace }.count
            let place = YAMLPlace(line: index + 1, column: indent + 1)
            words.append(Placed(word, at: Spot(file: path.value, place: place)))
        }
        if words.isEmpty {
            findings.error(
                "list \"\(name)\" is empty: \"\(path.value)\" has no words", at: path.spot,
                hint: "fill it or remove the list")
        }
        return words
    }

    /// The words with those of the lists they name.
    func resolved(_ words: [Placed<String>]) -> [Placed<String>] {
        words.flatMap { word -> [Placed<String>] in
            guard word.value.isListName else { return [word] }
            let name = String(word.value.dropFirst())
            usedNames.insert("$\(name)")
            if let list = lists[name] { return list }
            findings.error(
                "unknown list \"\(name)\"", at: word.spot,
                hint: Suggestion.hint(for: name, among: lists.keys.sorted()) ?? "declare it under lists:",
                code: .unknownName)
            return []
        }
    }
}

extension String {
    /// `$name` stands for the words of a list.
    var isListName: Bool {
        count > 1 && first == "$" && unicodeScalars.dropFirst().first?.properties.isAlphabetic == true
            && unicodeScalars.dropFirst().allSatisfy(TemplatePath.isPart)
    }
}
