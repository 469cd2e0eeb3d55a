internal import CRE2

/// RE2's own set of expressions. Rules do not use it: it tells which expressions match, not where, and takes longer. The
/// bench measures beside it.
///
/// `@unchecked Sendable`: RE2's set may be asked by any number of threads at once after it was compiled.
package final class RegexSet: @unchecked Sendable {
    private let set: OpaquePointer

    /// Nil when one is not an expression, or the memory does not do.
    package init?(_ patterns: [String], memory: Int64 = 256 << 20) {
        guard let set = cre2_set_open(memory) else { return nil }
        self.set = set
        for pattern in patterns {
            let bytes = Array(pattern.utf8)
            guard cre2_set_add(set, bytes, bytes.count) else { return nil }
        }
        guard cre2_set_compile(set) else { return nil }
    }

    deinit { cre2_set_free(set) }

    /// How many match; -1 when the memory did not do.
    package func count(in text: UnsafeBufferPointer<UInt8>) -> Int {
        Int(cre2_set_match(set, text.baseAddress, text.count))
    }
}
