import Seeds
import Testing

@testable import Matching

@Suite struct Automata {
    @Test func `finds what a naive search finds`() {
        var random = SeededRandom(seed: 1)
        for round in 0..<600 {
            let alphabet = UInt8([2, 3, 5, 30, 255].randomElement(using: &random) ?? 2)
            func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
                (0..<Int.random(in: range, using: &random)).map { _ in
                    UInt8.random(in: 0...alphabet, using: &random)
                }
            }
            let literals = Array(Set((0..<Int.random(in: 0...40, using: &random)).map { _ in bytes(1...6) }))
            let text = bytes(0...200)
            #expect(scan(literals, text) == naive(literals, text), "round \(round)")
        }
    }

    @Test func `all 256 bytes may occur`() {
        let literals = (0...255).map { [UInt8($0)] } + [[1, 2, 3], [255, 0]]
        let text: [UInt8] = [0, 1, 2, 3, 255, 0, 7]
        #expect(scan(literals, text) == naive(literals, text))
    }

    @Test func `literals within literals are all found`() {
        let literals = ["a", "aa", "aaa", "ba", "aab"].map { Array($0.utf8) }
        let text = Array("aaabaaaab".utf8)
        #expect(scan(literals, text) == naive(literals, text))
    }

    private func scan(_ literals: [[UInt8]], _ text: [UInt8]) -> Set<Occurrence> {
        var found: [Occurrence] = []
        text.withUnsafeBufferPointer { Automaton(literals).scan($0, into: &found) }
        #expect(Set(found).count == found.count)
        return Set(found)
    }

    private func naive(_ literals: [[UInt8]], _ text: [UInt8]) -> Set<Occurrence> {
        var found: Set<Occurrence> = []
        for (number, literal) in literals.enumerated() where literal.count <= text.count {
            for start in 0...text.count - literal.count where text[start...].starts(with: literal) {
                found.insert(Occurrence(literal: Int32(number), end: Int32(start + literal.count)))
            }
        }
        return found
    }
}

@Suite struct WordTables {
    @Test func `finds words as an automaton does between boundaries`() {
        var random = SeededRandom(seed: 2)
        for _ in 0..<200 {
            let letters = ["a", "b", "c", "1", "é", "ж"]
            let words = Set((0..<60).map { _ in random.text(from: letters, upTo: 18) }).filter { !$0.isEmpty }
                .sorted()
            let texts = words.map { Array($0.utf8) }
            #expect(texts.allSatisfy { WordTable.fits($0) })
            let table = WordTable(texts.enumerated().map { (Int32($0.offset), $0.element) })
            let spoken = (0..<20).map { _ in
                Bool.random(using: &random)
                    ? words.randomElement(using: &random) ?? "" : random.text(from: letters, upTo: 18)
            }
            var found: [Occurrence] = []
            Array(spoken.joined(separator: " ").utf8).withUnsafeBufferPointer { table.scan($0, into: &found) }
            #expect(found.map { words[Int($0.literal)] } == spoken.filter { words.contains($0) })
        }
    }

    @Test(arguments: ["two words", "don't", "你好", "a_b", "", "a\u{301}", "👍", "ไทย"])
    func `only words that no boundary can part fit`(_ word: String) {
        #expect(!WordTable.fits(Array(word.utf8)))
    }
}
