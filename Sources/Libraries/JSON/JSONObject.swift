/// The members of a JSON object, in the order in which they were written, no key twice.
///
/// Of a key that a document has twice the first value counts, here and in `JSONNode`. Two objects are equal when they
/// have the same values under the same keys, in whatever order.
package struct JSONObject: Sendable {
    package typealias Element = (key: String, value: JSON)

    private var members: [Element] = []

    package init() {}

    /// Of a key that comes twice the first value counts.
    package init(_ members: some Sequence<Element>) {
        self.members.reserveCapacity(members.underestimatedCount)
        var seen: Set<String> = []
        for member in members {
            // Small objects are searched; a set keeps one with a million keys from taking a trillion steps.
            if self.members.count < 16 {
                guard self[member.key] == nil else { continue }
            } else {
                if seen.isEmpty { seen.formUnion(self.members.lazy.map(\.key)) }
                guard seen.insert(member.key).inserted else { continue }
            }
            self.members.append(member)
        }
    }

    /// The value under a key. Setting nil removes the member; a new key goes to the end.
    package subscript(key: String) -> JSON? {
        get { members.first { $0.key == key }?.value }
        set {
            let place = members.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    package var keys: [String] { members.map(\.key) }
}

extension JSONObject: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(index: Int) -> Element { members[index] }
}

extension JSONObject: Equatable {
    package static func == (one: JSONObject, other: JSONObject) -> Bool {
        guard one.count == other.count else { return false }
        if zip(one.members, other.members).allSatisfy({ $0 == $1 }) { return true }
        let values = Dictionary(uniqueKeysWithValues: other.members.lazy.map { ($0.key, $0.value) })
        return one.members.allSatisfy { values[$0.key] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(elements.lazy.map { (key: $0, value: $1) })
    }
}
