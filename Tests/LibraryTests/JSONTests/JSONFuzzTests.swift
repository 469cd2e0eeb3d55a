import JSON
import Seeds
import Testing

@Suite struct JSONFuzzTests {
    private static let document = Array(
        #"{"method":"notification","id":"TM\u00e9\ud83d\ude00","n":[1,-2.5e3,true,false,null,"ä\n"],"o":{"p":{}}}"#
            .utf8)

    /// Walks all of a node through every accessor.
    private func walk(_ node: JSONNode) -> Int {
        var count =
            1 + (node.string?.utf8.count ?? 0) + (node.equals("id") ? 1 : 0) + (node.bool == true ? 1 : 0)
        count += node.int == nil ? 0 : 1
        count += node.double == nil ? 0 : 1
        count += node["n"] == nil ? 0 : 1
        for element in node.elements { count += walk(element) }
        for (_, value) in node.members { count += walk(value) }
        return count
    }

    /// Whatever the bytes are: an error with a place inside of them, or a document that survives being written.
    private func check(_ bytes: [UInt8], with reader: JSONReader) {
        do {
            let tree = try reader.read(bytes) { root in
                #expect(walk(root) > 0)
                return root.json
            }
            #expect(try JSON(parsing: tree.bytes()) == tree)
        } catch let error as JSONError {
            #expect(error.kind == .empty || (0...bytes.count).contains(error.offset ?? -1))
        } catch {
            Issue.record(error)
        }
    }

    @Test func `damaged documents never stop the program`() {
        var random = SeededRandom(seed: 2)
        let readers = [JSONReader(), JSONReader(loneSurrogates: .replaced)]
        for round in 0..<5000 {
            var bytes = Self.document
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<max(bytes.count, 1), using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes = Array(bytes.prefix(place))
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: min(place, bytes.count))
                case 2:
                    if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
                case 3: if place < bytes.count { bytes.remove(at: place) }
                default: bytes += bytes.prefix(place)
                }
            }
            check(bytes, with: readers[round % 2])
        }
    }

    @Test func `random pieces of JSON never stop the program`() {
        var random = SeededRandom(seed: 3)
        let reader = JSONReader(loneSurrogates: .replaced)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "\\udc00", "1", "-", ".", "e", "E+",
            "true",
            "null", " ", "\"a\"", "0", "999999999999999999999", "é", "\u{0}",
        ].map { Array($0.utf8) }
        for _ in 0..<5000 {
            let count = Int.random(in: 0...20, using: &random)
            check(
                (0..<count).flatMap { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] },
                with: reader)
        }
    }

    @Test func `random bytes never stop the program`() {
        var random = SeededRandom(seed: 4)
        let reader = JSONReader()
        for _ in 0..<5000 {
            let count = Int.random(in: 0...200, using: &random)
            check((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }, with: reader)
        }
    }

    @Test func `random trees come back as they were`() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            let tree = randomTree(depth: 5, using: &random)
            #expect(try JSON(parsing: tree.bytes()) == tree)
        }
    }

    private func randomTree(depth: Int, using random: inout SeededRandom) -> JSON {
        switch Int.random(in: depth == 0 ? 2...6 : 0...6, using: &random) {
        case 0:
            var values: [JSON] = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                values.append(randomTree(depth: depth - 1, using: &random))
            }
            return .array(values)
        case 1:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                object["\(random.next() % 100)"] = randomTree(depth: depth - 1, using: &random)
            }
            return .object(object)
        case 2: return .bool(Bool.random(using: &random))
        case 3: return .int(Int64(bitPattern: random.next()))
        case 4: return .double(Double.random(in: -1e10...1e10, using: &random))
        case 5:
            return .string(String(decoding: (0..<8).map { _ in UInt8(random.next() & 0xFF) }, as: UTF8.self))
        default: return .null
        }
    }
}
