internal import CSimdjson

/// Parses one document after the other in memory that it keeps.
///
/// One reader belongs to one task or actor. Reading inside of reading is allowed (JSON often sits in a string of other
/// JSON): the inner document gets memory of its own.
package final class JSONReader {
    /// The largest document that is read, in bytes.
    package let maximumSize: Int
    /// How deep arrays and objects may nest.
    package let maximumDepth: Int

    private let handle: OpaquePointer?
    private var isReading = false
    private let loneSurrogates: LoneSurrogates
    private lazy var inner = JSONReader(
        maximumSize: maximumSize, loneSurrogates: loneSurrogates, maximumDepth: maximumDepth)

    /// Above this the memory for a document, about 15 times its size, is given back after it was read.
    private static let kept = 1 << 18

    package init(
        maximumSize: Int = 10_000_000, loneSurrogates: LoneSurrogates = .refused,
        maximumDepth: Int = JSON.maximumDepth
    ) {
        self.maximumSize = maximumSize
        self.maximumDepth = maximumDepth
        self.loneSurrogates = loneSurrogates
        handle = sj_reader_create(maximumDepth + 1)
    }

    deinit { sj_reader_destroy(handle) }

    /// Parses the bytes and hands the document's root to `body`; the node and all reached through it are valid only
    /// inside. Throws `JSONError`, or what `body` throws.
    package func read<R>(_ bytes: UnsafeRawBufferPointer, _ body: (JSONNode) throws -> R) throws -> R {
        if isReading { return try inner.read(bytes, body) }
        let root = try parse(bytes)
        isReading = true
        defer { finish(bytes.count) }
        return try body(root)
    }

    package func read<R>(_ bytes: [UInt8], _ body: (JSONNode) throws -> R) throws -> R {
        try bytes.withUnsafeBytes { try read($0, body) }
    }

    package func read<R>(_ bytes: ArraySlice<UInt8>, _ body: (JSONNode) throws -> R) throws -> R {
        try bytes.withUnsafeBytes { try read($0, body) }
    }

    package func read<R>(_ text: String, _ body: (JSONNode) throws -> R) throws -> R {
        var text = text
        return try text.withUTF8 { try read(UnsafeRawBufferPointer($0), body) }
    }

    /// The document as a tree of its own.
    package func tree(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        if isReading { return try inner.tree(bytes) }
        let root = try parse(bytes)
        defer { finish(bytes.count) }
        return root.json
    }

    private func finish(_ count: Int) {
        isReading = false
        if count > Self.kept { sj_reader_trim(handle, Self.kept) }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONNode {
        guard bytes.count <= maximumSize else {
            throw JSONError(.tooLarge, "\(bytes.count) bytes where \(maximumSize) are allowed")
        }
        guard let handle else { throw JSONError(.memory, "no memory for a reader") }
        var root = sj_node()
        var code = Self.parse(bytes, with: handle, root: &root)
        if code == SJ_BAD_STRING, loneSurrogates == .replaced {
            code = LoneSurrogates.replacing(in: bytes).withUnsafeBytes { bytes in
                Self.parse(bytes, with: handle, root: &root)
            }
        }
        guard code == SJ_FINE else { throw error(code, in: bytes) }
        return JSONNode(raw: root)
    }

    private static func parse(
        _ bytes: UnsafeRawBufferPointer, with handle: OpaquePointer, root: inout sj_node
    ) -> Int {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return Int(sj_parse(handle, start, bytes.count, &root))
    }

    private func error(_ code: Int, in bytes: UnsafeRawBufferPointer) -> JSONError {
        if code == SJ_NO_MEMORY { return JSONError(.memory, "no memory for it") }
        if let error = JSONFault.find(in: bytes, maximumDepth: maximumDepth) { return error }
        return switch code {
        case SJ_BAD_NUMBER: JSONError(.number, "a bad number")
        case SJ_TOO_DEEP: JSONError(.tooDeep, "nested deeper than \(maximumDepth)")
        default: JSONError(.syntax, "not JSON's grammar")
        }
    }
}
