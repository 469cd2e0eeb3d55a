internal import CYAML

/// One step of libyaml through a file.
struct YAMLEvent {
    var kind: Kind
    var place: YAMLPlace
    var end: YAMLPlace
    var anchor: String?
    var tag: String?
    var isFlow = false

    enum Kind {
        case streamEnd, documentStart, sequenceStart, mappingStart
        case scalar(String, YAMLNode.Style)
        case alias(String)
        /// The end of something, or the start of the stream.
        case other
    }
}

/// Why libyaml could not go on.
struct YAMLFailure: Error {
    var problem: String
    var place: YAMLPlace
    /// Where the thing began that could not be read.
    var beginning: YAMLPlace?
}

/// libyaml's parser over bytes that it keeps.
struct YAMLEvents: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) {
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        input = .allocate(capacity: bytes.count)
        _ = input.initialize(from: bytes)
        yaml_parser_initialize(parser)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, UnsafePointer(input.baseAddress), input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    func next() throws(YAMLFailure) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
        defer { yaml_event_delete(&event) }
        var result = YAMLEvent(
            kind: .other, place: YAMLPlace(event.start_mark), end: YAMLPlace(event.end_mark))
        switch event.type {
        case YAML_STREAM_END_EVENT: result.kind = .streamEnd
        case YAML_DOCUMENT_START_EVENT: result.kind = .documentStart
        case YAML_ALIAS_EVENT: result.kind = .alias(text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            result.kind = .scalar(String(decoding: bytes, as: UTF8.self), YAMLNode.Style(scalar.style))
            result.anchor = text(scalar.anchor)
            result.tag = text(scalar.tag)
        case YAML_SEQUENCE_START_EVENT:
            result.kind = .sequenceStart
            result.anchor = text(event.data.sequence_start.anchor)
            result.tag = text(event.data.sequence_start.tag)
            result.isFlow = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
        case YAML_MAPPING_START_EVENT:
            result.kind = .mappingStart
            result.anchor = text(event.data.mapping_start.anchor)
            result.tag = text(event.data.mapping_start.tag)
            result.isFlow = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
        default: break
        }
        return result
    }

    private var failure: YAMLFailure {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "out of memory"
        let beginning = parser.pointee.context == nil ? nil : YAMLPlace(parser.pointee.context_mark)
        return YAMLFailure(
            problem: problem, place: YAMLPlace(parser.pointee.problem_mark), beginning: beginning)
    }

    private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }
}

extension YAMLPlace {
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}

extension YAMLNode.Style {
    fileprivate init(_ style: yaml_scalar_style_t) {
        switch style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: self = .single
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: self = .double
        case YAML_LITERAL_SCALAR_STYLE: self = .literal
        case YAML_FOLDED_SCALAR_STYLE: self = .folded
        default: self = .plain
        }
    }
}
