internal import Crypto
internal import JSON

/// A channel of two, which stands for direct messages: it is found by a unique name made of both identities.
enum DirectChannel {
    private static let prefix = "steward-dm-"

    /// The same whoever of the two asks. A hash, because two identities may be longer than a name.
    static func name(_ one: String, _ other: String) -> String {
        let pair: JSON = .array(
            [one, other].sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }.map {
                .string($0)
            })
        return prefix + Hex.encode(Array(Digest.sha256(pair.bytes()).prefix(16)))
    }

    static func isName(_ name: String?) -> Bool { name?.hasPrefix(prefix) ?? false }
}
