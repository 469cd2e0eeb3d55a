internal import CICU

/// The script a scalar belongs to, by its ISO 15924 code: "Latn", "Cyrl", "Hani"; "Zyyy" for what all share.
package struct Script: Sendable, Hashable, CustomStringConvertible {
    private let number: Int32

    package init(of scalar: UnicodeScalar) {
        number = cicu_script(scalar.value)
    }

    package var description: String { String(cString: cicu_script_name(number)) }
}
