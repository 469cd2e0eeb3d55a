internal import Chat
internal import Engine
internal import Glibc

/// `steward undo`: takes back what a case did, as far as the service allows.
enum UndoCommand {
    static let command = Command(
        name: "undo", summary: "take back what a case of moderation did",
        details: """
            Takes back what a case did: unbans, unmutes, unlocks, gives strikes back, and posts removed texts again with \
            their authors' names, as long as they are kept. A steward that runs does it at once; otherwise it is done \
            when steward starts. "steward cases" lists the cases.
            """,
        options: [.config], operands: .init(names: "CASE", count: 1...1)
    ) { arguments in
        await Look.intoStore(of: "undo", arguments) { _, store in
            let name = (arguments.operands.first ?? "").uppercased()
            let found = try await stored(name, in: store)
            guard let found else {
                throw SettingsMistake("there is no case \"\(name)\" - steward cases lists all")
            }
            if let undone = found.undone {
                throw SettingsMistake(
                    "\(name) was undone before, \(Look.moment(undone.at)) by \(undone.by)")
            }
            return try await Orders.place(.undo(case: name, by: Orders.who), in: store, about: name)
        }
    }

    private static func stored(_ name: String, in store: String) async throws -> Case? {
        let journal = try await SQLiteJournal.openForReading(store)
        let rows = try await journal.rows(of: .cases, keys: [name])
        await journal.close()
        return rows.first.flatMap { JSONRow.value(Case.self, from: $0.body) }
    }
}

/// Orders for the steward that works on a store.
enum Orders {
    /// Whoever runs the command, for the audit log.
    static var who: String {
        let name = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "user \(getuid())"
        return "\(name) (command line)"
    }

    /// How long a steward that runs may take; it looks every second.
    private static let patience = Duration.seconds(15)

    /// Leaves the order, and tells what came of it if a steward runs.
    static func place(_ order: Order, in store: String, about what: String) async throws -> ExitCode {
        let desk = try await OrderDesk.open(store)
        let end = await answered(order, at: desk, what)
        await desk.close()
        return try end.get()
    }

    private static func answered(
        _ order: Order, at desk: OrderDesk, _ what: String
    ) async -> Result<ExitCode, any Error> {
        do {
            guard try await !desk.waiting().contains(where: { $0.isSame(as: order) }) else {
                print("\(what): that is ordered already, and will be done when steward starts")
                return .success(.fine)
            }
            let isServed = desk.isServed
            let number = try await desk.place(order, at: .now)
            guard isServed else {
                print("\(what): steward does not run; it will be done when it starts")
                return .success(.fine)
            }
            let end = ContinuousClock.now + patience
            while ContinuousClock.now < end {
                if let answer = try await desk.answer(to: number) {
                    print("\(what): \(answer.text)")
                    return .success(answer.isDone ? .fine : .findings)
                }
                try await Task.sleep(for: .milliseconds(100))
            }
            print("\(what): no answer yet; it stays ordered")
            return .success(.findings)
        } catch {
            return .failure(error)
        }
    }
}

extension Order {
    /// Whoever gave it.
    fileprivate func isSame(as other: Order) -> Bool {
        switch (self, other) {
        case (.undo(let left, _), .undo(let right, _)): left == right
        case (.forget(let left, let realm, _), .forget(let right, let other, _)):
            left == right && realm == other
        default: false
        }
    }
}
