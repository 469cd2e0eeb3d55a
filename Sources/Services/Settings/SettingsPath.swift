/// The path of a file in `config.yaml`; a relative one begins at the folder of that file.
package struct SettingsPath: Sendable, Decodable, Equatable {
    package var text: String

    package init(_ text: String) {
        self.text = text
    }

    package init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }
}

/// A program in `config.yaml` with its arguments: a list of words, or one text for the shell. A program's relative path
/// begins at the folder of that file; a name without a slash is looked for as the shell does.
package struct SettingsCommand: Sendable, Decodable, Equatable {
    package var words: [String]

    package init(words: [String]) {
        self.words = words
    }

    package init(shell text: String) {
        words = text.isEmpty ? [] : ["/bin/sh", "-c", text]
    }

    package init(from decoder: any Decoder) throws {
        words = try decoder.singleValueContainer().decode([String].self)
    }
}
