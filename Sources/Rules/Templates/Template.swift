internal import YAML

/// Text with values in it, `Hello {{ user.name | default("you") }}`: read once when the rules are loaded, printed in
/// one pass.
struct Template: Sendable {
    enum Piece: Sendable {
        case text(String)
        case value(Expression)
    }

    /// A value and what is done to it on the way out.
    struct Expression: Sendable {
        var base: Operand
        var filters: [Use] = []
    }

    struct Use: Sendable {
        /// Nil when it is written wrong.
        var filter: TemplateFilter?
        var arguments: [Operand]
        var offset: Int
    }

    enum Operand: Sendable {
        case path(TemplatePath)
        case text(String)
        case number(Int64)
    }

    let pieces: [Piece]
    /// What is wrong with it; it is never printed then.
    let errors: [TemplateError]
    let source: String
    /// Where its value begins in the file.
    let spot: Spot
    /// How many columns behind that its first letter is; nil where a letter's column cannot be told.
    let shift: Int?

    /// Reads a template.
    init(_ source: String, spot: Spot, shift: Int? = 0) {
        var parser = TemplateParser(source)
        pieces = parser.pieces()
        errors = parser.errors
        self.source = source
        self.spot = spot
        self.shift = shift
    }

    /// Where in the file a scalar of the template is.
    func spot(at offset: Int) -> Spot {
        var spot = spot
        if let shift { spot.place.column += shift + offset }
        return spot
    }

    /// Whether it has no value, so that it prints the same each time.
    var isFixed: Bool {
        pieces.allSatisfy { if case .text = $0 { true } else { false } }
    }

    var paths: [TemplatePath] {
        pieces.flatMap { piece -> [TemplatePath] in
            guard case .value(let expression) = piece else { return [] }
            let operands = [expression.base] + expression.filters.flatMap(\.arguments)
            return operands.compactMap { operand in
                guard case .path(let path) = operand else { return nil }
                return path
            }
        }
    }

    /// What it comes to as one value, printed later and elsewhere.
    func value(_ values: TemplateValues) -> TemplateValue {
        var made: [MadeText.Piece] = []
        var plain = ""
        for piece in pieces {
            switch piece {
            case .text(let text):
                plain += text
                made.append(.value(.ours(text)))
            case .value(let expression):
                let value = expression.value(values, Destination())
                plain += value.plain
                switch value {
                case .made(let text): made += text.pieces
                case .ours where !expression.filters.isEmpty:
                    made.append(.filtered { $0.print(expression.value(values, $0)) })
                default:
                    if pieces.count == 1 { return value }
                    made.append(.value(value))
                }
            }
        }
        return .made(
            MadeText(
                plain: String(plain.prefix(MadeText.most.letters)),
                pieces: Array(made.prefix(MadeText.most.pieces))))
    }

    func render(_ values: TemplateValues, for destination: Destination) -> String {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .value(let expression):
                result.appendPrinted(destination.print(expression.value(values, destination)))
            }
        }
        return result
    }
}

extension Template.Expression {
    fileprivate func value(_ values: TemplateValues, _ destination: Destination) -> TemplateValue {
        filters.reduce(base.value(values)) { value, use in
            use.filter?.apply(value, use.arguments.map { $0.value(values) }, destination) ?? value
        }
    }
}

extension Template.Operand {
    fileprivate func value(_ values: TemplateValues) -> TemplateValue {
        switch self {
        case .path(let path): values.value(of: path)
        case .text(let text): .ours(text)
        case .number(let number): .number(number)
        }
    }
}

/// The name of a value, such as `user.name`.
struct TemplatePath: Sendable, Hashable {
    var root: String
    var field: String?
    /// Where it begins in its template.
    var offset = 0

    var text: String { field.map { "\(root).\($0)" } ?? root }

    init(root: String, field: String?, offset: Int = 0) {
        self.root = root
        self.field = field
        self.offset = offset
    }

    /// Reads `user.name`.
    init?(_ text: String, offset: Int = 0) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !parts.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0.unicodeScalars.allSatisfy(Self.isPart) })
        else { return nil }
        self.init(
            root: parts[0], field: parts.count > 1 ? parts[1...].joined(separator: ".") : nil, offset: offset)
    }

    static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "-" || scalar.properties.isAlphabetic
            || scalar.properties.numericType != nil
    }
}

/// Why a template cannot be read, and at which scalar of its text.
struct TemplateError: Error, Equatable, Sendable {
    var problem: String
    var offset: Int
    var hint: String?
}
