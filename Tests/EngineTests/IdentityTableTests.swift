import Testing

@testable import Engine

@Suite struct IdentityTables {
    @Test func `a value is found by its number, and no other number has it`() {
        var table = IdentityTable<String>()
        table[3] = "three"
        table[700] = "seven hundred"
        #expect(table[3] == "three")
        #expect(table[700] == "seven hundred")
        #expect(table[4] == nil)
        #expect(table[100_000] == nil)
        #expect(Array(table.values) == ["three", "seven hundred"])
        #expect(table.count == 2)
    }

    @Test func `a value is changed in its place, or put there first`() {
        var table = IdentityTable<Int>()
        for _ in 0..<3 { table.change(70, default: 10) { $0 += 1 } }
        #expect(table[70] == 13)
        #expect(table.count == 1)
    }

    @Test func `what is taken out is gone and no longer counted`() {
        var table = IdentityTable<Int>()
        for number in 0..<200 { table[UInt32(number)] = number }
        table[7] = nil
        table[7] = nil
        table[100_000] = nil
        #expect(table.count == 199)
        table.removeAll { $0 < 190 }
        #expect(Array(table.values) == Array(190..<200))
        #expect(table.count == 10)
        #expect(table[70] == nil)
        table[70] = 1
        #expect(table.count == 11)
    }
}
