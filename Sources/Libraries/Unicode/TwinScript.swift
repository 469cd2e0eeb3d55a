/// Scripts of which many letters look like Latin ones.
struct TwinScript: OptionSet {
    let rawValue: UInt8

    static let none: TwinScript = []
    static let cyrillic = TwinScript(rawValue: 1)
    static let greek = TwinScript(rawValue: 2)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(of scalar: UInt32) {
        switch scalar {
        case 0x400...0x52F: self = .cyrillic
        case 0x370...0x3FF, 0x1F00...0x1FFF: self = .greek
        default: self = .none
        }
    }

    /// The letter of the script that a small Latin letter is taken for.
    func twin(of letter: UInt32) -> UInt32? {
        switch self {
        case .cyrillic: Self.cyrillic(letter)
        case .greek: Self.greek(letter)
        default: nil
        }
    }

    private static func cyrillic(_ letter: UInt32) -> UInt32? {
        switch letter {
        case 0x61: 0x430  // a
        case 0x62: 0x432  // b
        case 0x63: 0x441  // c
        case 0x65: 0x435  // e
        case 0x68: 0x43D  // h
        case 0x69: 0x456  // i
        case 0x6A: 0x458  // j
        case 0x6B: 0x43A  // k
        case 0x6D: 0x43C  // m
        case 0x6F: 0x43E  // o
        case 0x70: 0x440  // p
        case 0x73: 0x455  // s
        case 0x74: 0x442  // t
        case 0x78: 0x445  // x
        case 0x79: 0x443  // y
        default: nil
        }
    }

    private static func greek(_ letter: UInt32) -> UInt32? {
        switch letter {
        case 0x61: 0x3B1  // a
        case 0x62: 0x3B2  // b
        case 0x65: 0x3B5  // e
        case 0x68: 0x3B7  // h
        case 0x69: 0x3B9  // i
        case 0x6B: 0x3BA  // k
        case 0x6D: 0x3BC  // m
        case 0x6E: 0x3BD  // n
        case 0x6F: 0x3BF  // o
        case 0x70: 0x3C1  // p
        case 0x74: 0x3C4  // t
        case 0x75, 0x79: 0x3C5  // u, y
        case 0x76: 0x3BD  // v
        case 0x77: 0x3C9  // w
        case 0x78: 0x3C7  // x
        case 0x7A: 0x3B6  // z
        default: nil
        }
    }
}
