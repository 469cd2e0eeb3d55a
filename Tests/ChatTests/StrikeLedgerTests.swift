import Testing

@testable import Chat

@Suite struct StrikeLedgerTests {
    private let weekly = StrikeLedger.Forgiveness(points: 1, time: .seconds(7 * 86_400))

    private func ledger(_ entries: (points: Int64, day: Int64)...) -> StrikeLedger {
        var ledger = StrikeLedger()
        for (number, entry) in entries.enumerated() {
            ledger.add(
                .init(
                    points: entry.points, at: day(entry.day), reason: "why\t\(number)\n", by: "rule",
                    event: "E\(number)"))
        }
        return ledger
    }

    private func day(_ day: Int64) -> Timestamp {
        Timestamp(milliseconds: 1_780_000_000_000 + day * 86_400_000)
    }

    @Test func `points are forgiven one a week from the first on`() {
        let ledger = ledger((2, 0), (1, 6), (1, 30))
        let totals = [0, 6, 7, 13, 14, 20, 21, 30, 36, 37].map { ledger.total(at: day($0), forgive: weekly) }
        #expect(totals == [2, 3, 2, 2, 1, 1, 0, 1, 1, 0])
        #expect(ledger.total(at: day(365), forgive: nil) == 4)
    }

    @Test func `what is taken back leaves no debt`() {
        let ledger = ledger((2, 0), (-5, 1), (1, 2))
        #expect([0, 1, 2].map { ledger.total(at: day($0), forgive: weekly) } == [2, 0, 1])
    }

    @Test func `a strike that is undone counts no more`() {
        var ledger = ledger((2, 0), (3, 1))
        let removals = [("E1", "rule"), ("E1", "rule"), ("E0", "other")]
        var done: [Bool] = []
        for (event, rule) in removals { done.append(ledger.remove(event: event, by: rule)) }
        #expect(done == [true, false, false])
        #expect(ledger.total(at: day(2), forgive: weekly) == 2)
    }

    @Test func `as text and back it is the same`() {
        var ledger = ledger((2, 0), (3, 1))
        ledger.add(.init(points: 1, at: day(3), reason: "a\\b\r\nc", by: "x", event: "", moderator: "ana"))
        #expect(StrikeLedger(text: ledger.text) == ledger)
        #expect(StrikeLedger(MemoryValue.number(3)) == StrikeLedger())
        #expect(StrikeLedger(text: "1\tx") == nil)
    }

    @Test func `the oldest of very many are let go of`() {
        var ledger = StrikeLedger()
        for number in 0..<150 { ledger.add(.init(points: 1, at: day(0), by: "r", event: "\(number)")) }
        #expect(ledger.entries.count == StrikeLedger.most)
        #expect(ledger.entries.first?.event == "50")
    }
}
