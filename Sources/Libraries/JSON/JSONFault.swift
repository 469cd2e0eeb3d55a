/// Finds the place and the nature of the first mistake in bytes that simdjson has refused, because simdjson tells only
/// that there is one. Slower than simdjson, and never asked about bytes that it takes.
struct JSONFault {
    private let bytes: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private var at = 0

    /// Nil when it finds nothing wrong.
    static func find(
        in bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSON.maximumDepth
    ) -> JSONError? {
        if let offset = invalidUTF8(in: bytes) { return JSONError(.invalidUTF8, "invalid UTF-8", at: offset) }
        var fault = JSONFault(bytes: bytes, maximumDepth: maximumDepth)
        do throws(JSONError) {
            try fault.document()
            return nil
        } catch {
            return error
        }
    }

    private static func invalidUTF8(in bytes: UnsafeRawBufferPointer) -> Int? {
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }

    private init(bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private func fault(_ kind: JSONError.Kind, _ text: String) -> JSONError {
        next == nil && kind == .syntax
            ? JSONError(.incomplete, "it ends too early,", at: at) : JSONError(kind, text, at: at)
    }
}

// MARK: Grammar

extension JSONFault {
    private mutating func document() throws(JSONError) {
        space()
        guard next != nil else { throw JSONError(.empty, "there is nothing in it") }
        try value(depth: 0)
        space()
        guard next == nil else { throw fault(.syntax, "something after the value") }
    }

    /// Does not go deeper than what simdjson takes, so its own depth has a bound.
    private mutating func value(depth: Int) throws(JSONError) {
        switch next.map({ Unicode.Scalar($0) }) ?? "\0" {
        case "{":
            try list(depth, end: "}", missing: "a comma or \"}\" is missing") { (fault) throws(JSONError) in
                guard fault.next == UInt8(ascii: "\"") else { throw fault.fault(.syntax, "a key is missing") }
                try fault.string()
                fault.space()
                guard fault.take(":") else { throw fault.fault(.syntax, "a colon is missing") }
                fault.space()
            }
        case "[":
            try list(depth, end: "]", missing: "a comma or \"]\" is missing") { (_) throws(JSONError) in }
        case "\"": try string()
        case "t": try word("true")
        case "f": try word("false")
        case "n": try word("null")
        case "-", "0"..."9": try number()
        default: throw fault(.syntax, "a value is missing")
        }
    }

    private mutating func list(
        _ depth: Int, end: Unicode.Scalar, missing: String,
        key: (inout JSONFault) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard depth < maximumDepth else {
            throw fault(.tooDeep, "nested deeper than \(maximumDepth)")
        }
        at += 1
        space()
        if take(end) { return }
        while true {
            try key(&self)
            try value(depth: depth + 1)
            space()
            if take(end) { return }
            guard take(",") else { throw fault(.syntax, missing) }
            space()
        }
    }

    private mutating func word(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[index] else { throw fault(.syntax, "neither true, false nor null") }
            at += 1
        }
    }

    private mutating func number() throws(JSONError) {
        let start = at
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        let isWhole = !text.contains { ".eE".contains($0) }
        let fits = isWhole ? Int64(text) != nil || UInt64(text) != nil : Double(text)?.isFinite == true
        guard fits else { throw JSONError(.number, "a number too large", at: start) }
    }

    private mutating func digits() throws(JSONError) {
        guard let digit = next, digit >= 0x30, digit <= 0x39 else {
            throw fault(.number, "a digit is missing")
        }
        while let digit = next, digit >= 0x30, digit <= 0x39 { at += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        at += 1
        return true
    }

    private mutating func space() {
        while let byte = next, [0x20, 0x0A, 0x0D, 0x09].contains(byte) { at += 1 }
    }
}

// MARK: Strings

extension JSONFault {
    private mutating func string() throws(JSONError) {
        let start = at
        at += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case ..<0x20: throw fault(.string, "a control character in a string")
            default: at += 1
            }
        }
        throw JSONError(.incomplete, "a string without end begins", at: start)
    }

    private mutating func escape() throws(JSONError) {
        let start = at
        at += 1
        guard let letter = next else { return }
        at += 1
        guard letter == UInt8(ascii: "u") else {
            guard #""\/bfnrt"#.utf8.contains(letter) else {
                throw JSONError(.string, "an unknown escape", at: start)
            }
            return
        }
        let unit = try codeUnit(from: start)
        guard unit & 0xF800 == 0xD800 else { return }
        guard unit < 0xDC00, take("\\"), take("u"), try codeUnit(from: start) & 0xFC00 == 0xDC00 else {
            throw JSONError(.string, "half of a surrogate pair", at: start)
        }
    }

    private mutating func codeUnit(from start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw JSONError(.string, "not four hexadecimal digits in an escape", at: start)
            }
            unit = unit << 4 | UInt16(digit)
            at += 1
        }
        return unit
    }
}
