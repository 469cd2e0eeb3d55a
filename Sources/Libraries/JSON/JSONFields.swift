internal import CSimdjson

/// Names of members that are wanted together, best in the order in which they usually come; at most eight. Made for the
/// life of the program.
///
/// `@unchecked Sendable`: it points at what nobody changes or frees.
package struct JSONKeys: @unchecked Sendable {
    // No array: to look at that would count references for each object that is read.
    fileprivate let keys: UnsafePointer<sj_key>
    fileprivate let count: Int

    package init(_ names: StaticString...) {
        count = min(names.count, JSONFields.most)
        let keys = UnsafeMutablePointer<sj_key>.allocate(capacity: JSONFields.most)
        for (place, name) in names.prefix(count).enumerated() {
            (keys + place).initialize(to: sj_key(bytes: name.utf8Start, count: name.utf8CodeUnitCount))
        }
        self.keys = UnsafePointer(keys)
    }
}

/// The members of one object that were asked for, by the places of their names. Valid for as long as their node.
package struct JSONFields {
    fileprivate static let most = 8

    private var values = InlineArray<8, sj_node>(repeating: sj_node())

    fileprivate init(_ keys: JSONKeys, in node: JSONNode) {
        var values = values.mutableSpan
        values.withUnsafeMutableBufferPointer { sj_find_all(node.raw, keys.keys, keys.count, $0.baseAddress) }
    }

    /// The value under the name at that place; nil when there is none.
    package subscript(place: Int) -> JSONNode? {
        let value = values[place]
        return value.document == nil ? nil : JSONNode(raw: value)
    }
}

extension JSONNode {
    /// The values under all of the keys in one walk over the members; none when this is not an object.
    package func fields(_ keys: JSONKeys) -> JSONFields { JSONFields(keys, in: self) }
}
