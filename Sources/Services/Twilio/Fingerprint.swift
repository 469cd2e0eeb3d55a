/// 128 bits that stand for some text in a table, got from its bytes without making a `String`.
///
/// Not for secrets, and where people choose the text what is found must be compared with it.
struct Fingerprint: Hashable {
    private let high: UInt64
    let low: UInt64

    /// Other ones in each process, so that nobody can prepare names that collide.
    private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        var (one, other) = Self.seeds
        let raw = UnsafeRawBufferPointer(bytes)
        var place = 0
        while place + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            Self.mix(&one, &other, word)
            place += 8
        }
        var rest = UInt64(raw.count) << 56
        var shift: UInt64 = 0
        while place < raw.count {
            rest |= UInt64(raw[place]) << shift
            shift += 8
            place += 1
        }
        Self.mix(&one, &other, rest)
        high = one
        low = other
    }

    init(_ text: String) {
        var text = text
        self = text.withUTF8 { Fingerprint($0) }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// It is a hash already, and made with seeds of its own.
    func _rawHashValue(seed: Int) -> Int { Int(truncatingIfNeeded: low) ^ seed }

    private static func mix(_ one: inout UInt64, _ other: inout UInt64, _ word: UInt64) {
        let first = (one ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        let second = (other &+ word).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        one = first.high ^ first.low
        other = second.high ^ second.low &+ word
    }
}
