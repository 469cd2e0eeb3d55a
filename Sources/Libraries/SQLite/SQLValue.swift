/// What a column holds or a `?` stands for.
package enum SQLValue: Sendable, Equatable {
    case null
    case int(Int64)
    case double(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    package init(_ value: some BinaryInteger) { self = .int(Int64(clamping: value)) }
    package init(_ value: Bool) { self = .int(value ? 1 : 0) }

    /// Null for nil.
    package init(_ value: Int64?) { self = value.map { .int($0) } ?? .null }
    /// Null for nil.
    package init(_ value: Double?) { self = value.map { .double($0) } ?? .null }
    /// Null for nil.
    package init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    /// Null for nil.
    package init(_ value: [UInt8]?) { self = value.map { .blob($0) } ?? .null }
}

extension SQLValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation
{
    package init(nilLiteral: ()) { self = .null }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .text(value) }
}
