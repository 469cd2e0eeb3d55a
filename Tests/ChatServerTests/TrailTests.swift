import Testing

@testable import ChatServer

@Suite struct Trails {
    @Test func `a trail is like an array whatever is done to it`() {
        var trail = Trail<Int64>()
        var array: [Int64] = []
        var random = SystemRandomNumberGenerator()
        for number in 0..<6000 as Range<Int64> {
            trail.append(number)
            array.append(number)
            if number % 3 == 0 {
                let position = Int.random(in: array.indices, using: &random)
                trail.remove(at: position)
                array.remove(at: position)
            }
            if number % 2 == 0, !array.isEmpty { #expect(trail.removeFirst() == array.removeFirst()) }
            guard number % 97 == 0 else { continue }
            #expect(trail.count == array.count)
            #expect(trail.elements(from: 0) == array)
            let wanted = Int64.random(in: 0...number, using: &random)
            let position = trail.position(of: wanted, by: \.self)
            #expect(position == array.firstIndex { $0 >= wanted } ?? array.count)
            #expect(trail.elements(from: position) == Array(array[position...]))
            #expect(trail.last { $0 < wanted } == array.last { $0 < wanted })
        }
        while !array.isEmpty { #expect(trail.removeFirst() == array.removeFirst()) }
        #expect(trail.isEmpty)
        trail.append(1)
        #expect(trail[0] == 1)
    }

    @Test func `a copy keeps what it had`() {
        var trail = Trail<Int>()
        for number in 0..<1000 { trail.append(number) }
        let copy = trail
        trail[5] = -1
        trail.remove(at: 700)
        _ = trail.removeFirst()
        #expect(copy.elements(from: 0) == Array(0..<1000))
    }
}
