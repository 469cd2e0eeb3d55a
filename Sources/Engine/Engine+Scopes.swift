internal import Chat

// The scopes, outermost first: lease, surroundings, connections, outbox, decider, gate. Leaving one finishes its work.
extension Engine {
    func runUntilClosed(in surroundings: Surroundings) async throws {
        guard let lease = try await takeLease() else { return }
        let end = await Self.capture { try await surroundings { try await self.work(under: lease) } }
        await journal.release(lease)
        try end.get()
    }

    private func work(under lease: Lease) async throws {
        let end = await withTaskGroup(of: Result<Bool, any Error>.self) { group in
            group.addTask {
                do {
                    try await self.runScopes(under: lease)
                    return .success(true)
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await self.gate.wait { self.gate.isClosed }
                do {
                    try await self.time.sleep(for: self.settings.drainLimit)
                    return .success(false)
                } catch {
                    return .failure(error)
                }
            }
            let first = await group.next() ?? .success(true)
            group.cancelAll()
            return first
        }
        if try end.get() == false {
            log.warning("stopping took too long; what is left stays in the journal")
        }
    }

    /// Stands by while another steward has the store; nil when we are told to stop meanwhile.
    private func takeLease() async throws -> Lease? {
        var isStandingBy = false
        while !gate.isClosed {
            let now = time.now
            let answer = try await journal.acquire(by: settings.holder, at: now, until: now + settings.lease)
            switch answer {
            case .taken(let lease):
                if isStandingBy { log.info("the other steward is gone; taking over") }
                return lease
            case .held(let other, _):
                if !isStandingBy { log.warning("\(other) works on this store already; standing by") }
                isStandingBy = true
                setPhase(.standingBy(for: other))
                let version = gate.changed.version
                if gate.isClosed { return nil }
                await gate.changed.wait(past: version, noLongerThan: settings.lease / 15, by: time)
                try Task.checkCancellation()
            }
        }
        return nil
    }

    private func runScopes(under lease: Lease) async throws {
        let stored = try await Stored.read(from: journal, identities)
        for row in stored.broken { log.error("\(row) in the store cannot be read and is left alone") }
        let box = DeciderBox()
        let queue = BatchQueue<Work>(onIdle: { [gate] in gate.mayBeQuiet() })
        let inboxes = accounts.map { account in
            AccountInbox(
                account: account.name, limit: settings.inboxLimit, queue: queue, gate: gate, time: time,
                log: log,
                cursors: { realm in await box.decider?.cursors(of: realm) ?? [:] })
        }
        let outbox = Outbox(
            Array(zip(accounts, inboxes)), settings: settings, queue: queue, gate: gate, counters: counters,
            time: time, log: log)
        let schedule = Schedule(queue: queue, time: time)
        let parts = Decider.Parts(
            settings: settings, journal: journal, identities: identities, queue: queue, gate: gate,
            bots: bots,
            counters: counters, heartbeat: heartbeat, time: time, log: log)
        let decider = Decider(
            parts, accounts: accounts, stored: stored, lease: lease, outbox: outbox, schedule: schedule)
        box.set(decider)
        queue.put(.started)
        for (key, continuation) in stored.continuations {
            if let due = continuation.due { schedule.add(key, due: due) }
        }
        if !stored.actions.isEmpty {
            log.info("\(stored.actions.count) actions of an earlier run are still open")
            outbox.add(stored.actions, isUnsure: true)
        }
        setLive(inboxes, outbox)
        setPhase(.running)

        let runners = zip(accounts, inboxes).compactMap { account, inbox in
            restarts[account.name].map {
                ServiceRunner(
                    service: account.service, inbox: inbox, restart: $0, settings: settings, time: time,
                    log: log)
            }
        }
        try await scope(cancelling: [{ try await self.keepHouse(under: lease, queue) }]) {
            try await scope(cancelling: runners.map { runner in { await runner.run() } }) {
                try await scope([{ try await outbox.run() }], finish: { await outbox.finish() }) {
                    let decide = { @Sendable in
                        // So that what it waits for wakes the journal's thread and no other.
                        try await withTaskExecutorPreference(self.journal.executor) {
                            try await decider.run()
                        }
                    }
                    try await scope([decide], finish: { queue.finish() }) {
                        try await scope(cancelling: [
                            { await schedule.run() }, { try await self.takeOrders(queue) },
                        ]) {
                            await self.gate.wait { self.gate.isClosed }
                        }
                        // Results of actions are decided, too, so both have to come to rest.
                        await self.gate.wait {
                            if !queue.isIdle { return false }
                            let isQuiet = await outbox.isQuiet
                            return isQuiet && queue.isIdle
                        }
                    }
                }
            }
        }
    }

    /// Takes what others leave in the store for us, and once an hour asks for what is to go.
    private func takeOrders(_ queue: BatchQueue<Work>) async throws {
        var hour: Int64?
        while !Task.isCancelled {
            if CaseFile.hour(time.now) != hour {
                hour = CaseFile.hour(time.now)
                queue.put(.upkeep)
            }
            // A store that cannot be read now is the decider's to complain of.
            if journal.takesOrders, let orders = try? await journal.openOrders(), !orders.isEmpty {
                queue.put(.orders(orders))
            }
            try await time.sleep(for: journal.takesOrders ? .seconds(1) : .seconds(60))
        }
    }

    /// Keeps the lease, looks after the connections and moves the log into its tables when there is nothing to do.
    private func keepHouse(under lease: Lease, _ queue: BatchQueue<Work>) async throws {
        let interval = settings.lease / 3
        var lastRenewal = time.now
        var lastDecided = 0
        var quietSince: Timestamp?
        while !Task.isCancelled {
            try await time.sleep(for: interval)
            let now = time.now
            do throws(JournalError) {
                try await journal.renew(lease, until: now + settings.lease)
                lastRenewal = now
                while queue.isIdle, try await journal.tidy(at: now, under: lease) {}
            } catch .unwritable(let why) {
                // The decider says so and waits; the lease runs out by itself, and then somebody else may be better off.
                log.debug("\(why)")
                if now - lastRenewal > settings.storeLimit { throw JournalError.unwritable(why) }
            }
            pulse.check(at: now) { restart(account: $0) }
            let decided = counters.snapshot.decided
            if decided != lastDecided {
                lastDecided = decided
                quietSince = now
            } else if let since = quietSince, now - since > .seconds(60) {
                quietSince = nil
                Allocator.trim()
            }
        }
    }
}

/// The inboxes are made before the decider that they ask for cursors.
private final class DeciderBox: Sendable {
    private let box = Locked<Decider?>(nil)

    var decider: Decider? { box.withLock { $0 } }

    func set(_ decider: Decider) {
        box.withLock { $0 = decider }
    }
}
