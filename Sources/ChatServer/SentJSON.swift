internal import JSON

extension JSON {
    /// Reads what a client sent. Half of a surrogate pair, which programs leave behind that cut text by UTF-16, becomes
    /// U+FFFD: the rest of the message is as good as any.
    init(sent bytes: [UInt8]) throws(JSONError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSONReader(loneSurrogates: .replaced).tree(bytes) }
        }
        self = try result.get()
    }
}
