internal import YAML

/// All that is wrong with `config.yaml`, each mistake at its place.
struct ConfigError: Error, CustomStringConvertible {
    struct Mistake {
        var place: YAMLPlace
        var problem: String
        var hint: String?
        /// The line is not to be seen.
        var isSecret = false
    }

    var file: String
    var mistakes: [Mistake]
    var source: YAMLSource?

    /// A file that cannot be read at all.
    init(file: String, problem: String) {
        self.file = file
        mistakes = [Mistake(place: .start, problem: problem)]
    }

    init(file: String, mistakes: [Mistake], source: YAMLSource) {
        self.file = file
        self.mistakes = mistakes.sorted { $0.place < $1.place }
        self.source = source
    }

    var description: String {
        mistakes.map { report($0) + "\n" }.joined()
    }

    /// One mistake with its source line.
    func report(_ mistake: Mistake) -> String {
        guard let source else { return "\(file): error: \(mistake.problem)" }
        let line = "\(file):\(mistake.place): error: \(mistake.problem)"
        let excerpt = mistake.isSecret ? "" : "\n" + source.excerpt(at: mistake.place)
        return line + (mistake.hint.map { " - \($0)" } ?? "") + excerpt
    }
}
