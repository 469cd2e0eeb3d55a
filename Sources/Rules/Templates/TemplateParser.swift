internal import Zones

/// Reads the text of a template. Behind a mistake it goes on, so that all of them are found at once.
struct TemplateParser {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var errors: [TemplateError] = []

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    /// Of a value with a mistake there is what could be read.
    mutating func pieces() -> [Template.Piece] {
        var pieces: [Template.Piece] = []
        var text = String.UnicodeScalarView()
        while index < scalars.count {
            guard isAt("{", "{") else {
                text.append(scalars[index])
                index += 1
                continue
            }
            if !text.isEmpty { pieces.append(.text(String(text))) }
            text = String.UnicodeScalarView()
            let start = index
            var expression: Template.Expression?
            do throws(TemplateError) {
                try read(into: &expression)
            } catch {
                errors.append(error)
                leave(start)
            }
            if let expression { pieces.append(.value(expression)) }
        }
        if !text.isEmpty { pieces.append(.text(String(text))) }
        return pieces
    }

    /// Goes behind the value that begins there, or to where the next one does.
    private mutating func leave(_ start: Int) {
        index = start + 2
        while index < scalars.count {
            if isAt("}", "}") {
                index += 2
                return
            }
            if isAt("{", "{") { return }
            index += 1
        }
    }

    private mutating func read(into expression: inout Template.Expression?) throws(TemplateError) {
        let start = index
        index += 2
        expression = Template.Expression(base: try operand())
        while true {
            skipSpace()
            if isAt("}", "}") {
                index += 2
                return
            }
            guard index < scalars.count else {
                throw TemplateError(
                    problem: "\"{{\" is not closed", offset: start, hint: "close it with \"}}\"")
            }
            guard scalars[index] == "|" else {
                throw TemplateError(
                    problem: "\"\(scalars[index])\" does not belong here", offset: index,
                    hint: "a value is written {{ name | filter }}")
            }
            index += 1
            let use = try use()
            expression?.filters.append(use)
        }
    }

    private mutating func use() throws(TemplateError) -> Template.Use {
        skipSpace()
        let start = index
        let name = word()
        guard !name.isEmpty else {
            throw TemplateError(
                problem: "a filter is missing behind \"|\"", offset: start,
                hint: "known: " + TemplateFilter.all.map(\.name).joined(separator: ", "))
        }
        let arguments = try arguments(from: start)
        let before = errors.count
        do throws(TemplateError) {
            let filter = try Self.filter(name, arguments, at: start)
            if name == "date" { check(date: arguments, at: start) }
            return Template.Use(
                filter: errors.count == before ? filter : nil, arguments: arguments, offset: start)
        } catch {
            errors.append(error)
            return Template.Use(filter: nil, arguments: arguments, offset: start)
        }
    }

    private mutating func arguments(from start: Int) throws(TemplateError) -> [Template.Operand] {
        skipSpace()
        guard index < scalars.count, scalars[index] == "(" else { return [] }
        index += 1
        skipSpace()
        var arguments: [Template.Operand] = []
        while index < scalars.count, scalars[index] != ")" {
            arguments.append(try operand())
            skipSpace()
            if index < scalars.count, scalars[index] == "," { index += 1 }
            skipSpace()
        }
        guard index < scalars.count else {
            throw TemplateError(problem: "\"(\" is not closed", offset: start)
        }
        index += 1
        return arguments
    }

    private static func filter(
        _ name: String, _ arguments: [Template.Operand], at start: Int
    ) throws(TemplateError) -> TemplateFilter {
        guard let filter = TemplateFilter.named[name] else {
            if TemplateFilter.later.contains(name) {
                throw TemplateError(problem: "\"\(name)\" is not built yet", offset: start)
            }
            let names = TemplateFilter.all.map(\.name)
            throw TemplateError(
                problem: "unknown filter \"\(name)\"", offset: start,
                hint: Suggestion.hint(for: name, among: names) ?? "known: " + names.joined(separator: ", "))
        }
        guard filter.arguments.contains(arguments.count) else {
            let wanted = filter.arguments
            let count =
                wanted.lowerBound == wanted.upperBound
                ? "\(wanted.lowerBound)" : "\(wanted.lowerBound) to \(wanted.upperBound)"
            throw TemplateError(
                problem:
                    "\"\(name)\" takes \(count) argument\(count == "1" ? "" : "s"), not \(arguments.count)",
                offset: start)
        }
        if filter.wantsNumber, let first = arguments.first, case .text(let text) = first {
            throw TemplateError(
                problem: "\"\(name)\" takes a number, not \"\(text.shortened)\"", offset: start)
        }
        return filter
    }

    /// How and where a moment is printed must be known when the rules are read.
    private mutating func check(date arguments: [Template.Operand], at start: Int) {
        let isQuoted = arguments.allSatisfy { if case .text = $0 { true } else { false } }
        if !isQuoted {
            errors.append(
                TemplateError(
                    problem: "\"date\" takes texts in quotes", offset: start,
                    hint: "try date('EEE HH:mm', 'Europe/Oslo')"))
        }
        for (index, argument) in arguments.enumerated() {
            guard case .text(let text) = argument else { continue }
            do throws(ZoneError) {
                if index == 0 { _ = try DateFormat(text) } else { _ = try TimeZone(named: text) }
            } catch {
                errors.append(TemplateError(problem: error.problem, offset: start, hint: error.hint))
            }
        }
    }

    private mutating func operand() throws(TemplateError) -> Template.Operand {
        skipSpace()
        let start = index
        guard index < scalars.count else {
            throw TemplateError(problem: "\"{{\" is not closed", offset: start)
        }
        if scalars[index] == "\"" || scalars[index] == "'" { return .text(try quoted(scalars[index])) }
        var text = String.UnicodeScalarView()
        while index < scalars.count, TemplatePath.isPart(scalars[index]) || scalars[index] == "." {
            text.append(scalars[index])
            index += 1
        }
        if let number = Int64(String(text)) { return .number(number) }
        guard let path = TemplatePath(String(text), offset: start) else {
            let isEnd = isAt("}", "}")
            throw TemplateError(
                problem: isEnd ? "a value is missing" : "this is not the name of a value", offset: start,
                hint: "try {{ user.name }}")
        }
        return .path(path)
    }

    private mutating func quoted(_ quote: Unicode.Scalar) throws(TemplateError) -> String {
        let start = index
        index += 1
        var text = String.UnicodeScalarView()
        while index < scalars.count, scalars[index] != quote {
            if scalars[index] == "\\", index + 1 < scalars.count { index += 1 }
            text.append(scalars[index])
            index += 1
        }
        guard index < scalars.count else {
            throw TemplateError(problem: "a quote in a template is not closed", offset: start)
        }
        index += 1
        return String(text)
    }

    private mutating func word() -> String {
        var text = String.UnicodeScalarView()
        while index < scalars.count, TemplatePath.isPart(scalars[index]) {
            text.append(scalars[index])
            index += 1
        }
        return String(text)
    }

    private mutating func skipSpace() {
        while index < scalars.count, scalars[index].properties.isWhitespace { index += 1 }
    }

    private func isAt(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        index + 1 < scalars.count && scalars[index] == first && scalars[index + 1] == second
    }
}
