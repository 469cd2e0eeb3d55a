internal import Chat
internal import WebSocket

/// An account that is logged in over one socket after the other. What is the same whatever is spoken there is here.
protocol SocketAccount: Actor {
    associatedtype Book: EventBook
    associatedtype End: ConnectionEnd
    /// What is needed to log in.
    associatedtype Ticket: Sendable

    nonisolated var clock: ServiceClock { get }
    nonisolated var log: Log { get }
    nonisolated var keeper: TokenKeeper { get }
    nonisolated var tools: ServiceTools { get }
    /// How long to drop events when steward has too many.
    nonisolated var pauseBehind: Duration { get }

    var inbox: (any Inbox)? { get }
    /// Nil until it is known who we are.
    var book: Book? { get set }
    var standing: Standing { get set }

    /// What to log in with; waits for it.
    func ticket(_ inbox: any Inbox) async throws -> Ticket
    /// Connects, logs in and stays until that connection is over; says why it is.
    func session(_ ticket: Ticket, _ inbox: any Inbox) async throws -> End
    /// What follows from that, and how long to wait; throws when somebody has to act.
    func follow(_ end: End, of ticket: Ticket, _ inbox: any Inbox) async throws -> (
        reason: String, pause: Duration
    )
    /// The last connection was fine, or there was none.
    func forgetFailures()
    /// The account ends; what still runs is waited for after that.
    func stopped()
}

/// Why a connection is over.
protocol ConnectionEnd: Error, Sendable {
    /// It broke: connect again.
    static func lost(_ why: String) -> Self
    /// Connect again no sooner than the server wants.
    static func wanted(_ pause: Duration, _ why: String) -> Self
}

/// A request that cannot be answered on its connection any more.
protocol ConnectionFailure: Error {
    var reason: String { get }
}

/// Why an account is given up: somebody has to act.
package struct AccountFailure: Error, Equatable, CustomStringConvertible {
    package let description: String
}

extension SocketAccount {
    var isComplete: Bool { standing.isComplete }

    /// Stays connected until cancelled or broken for good; beside it the token is kept fresh.
    func stayLoggedIn(_ inbox: any Inbox) async throws {
        standing.reported = nil
        standing.isClosed = false
        try await untilOneEnds(
            [{ try await self.keeper.run() }, { try await self.stayConnected(inbox) }], stopping: stopped)
    }

    // MARK: One connection after the other

    /// One attempt at a time: the next begins when everything of the one before has ended.
    private func stayConnected(_ inbox: any Inbox) async throws {
        forgetFailures()
        report(.connecting, to: inbox)
        while true {
            try Task.checkCancellation()
            let ticket = try await ticket(inbox)
            // Not before: why there is no token is worth more than that we wait for one.
            report(.connecting, to: inbox)
            standing.isComplete = false
            let end = try await session(ticket, inbox)
            if standing.isComplete { forgetFailures() }
            try Task.checkCancellation()
            let (reason, pause) = try await follow(end, of: ticket, inbox)
            report(.down(reason: reason), to: inbox)
            let words =
                pause.milliseconds < 1000 ? "\(pause.milliseconds) ms" : "\(pause.milliseconds / 1000) s"
            log.debug("\(reason); connecting again in \(words)")
            try await clock.sleep(pause)
        }
    }

    func nextToken(_ inbox: any Inbox) async throws -> AccessToken {
        while true {
            do {
                return try await keeper.current()
            } catch let error as TokenError {
                report(.down(reason: error.description), to: inbox)
            }
        }
    }

    /// Each status once, however often it is found.
    func report(_ status: ServiceStatus, to inbox: any Inbox) {
        guard status != standing.reported else { return }
        standing.reported = status
        inbox.report(status)
    }

    func giveUp(_ reason: String, _ inbox: any Inbox) -> AccountFailure {
        log.error("\(reason); giving up until somebody acts")
        report(.failed(reason: reason), to: inbox)
        return AccountFailure(description: reason)
    }

    // MARK: One connection

    /// A socket, or why there is none.
    func connect(
        to url: String, headers: [(String, String)] = [], timeout: Duration
    ) async throws -> Result<WebSocket, End> {
        do throws(WebSocketError) {
            return .success(
                try await WebSocket.connect(to: url, headers: headers, timeout: timeout, on: tools.loop))
        } catch {
            if Task.isCancelled { throw CancellationError() }
            if let pause = error.retryAfter { return .failure(.wanted(pause, error.text)) }
            return .failure(.lost(error.text))
        }
    }

    /// Does everything that a connection needs until some of it ends; says why the connection is over.
    func end(of tasks: [@Sendable () async throws -> Void]) async throws -> End {
        do {
            try await untilOneEnds(tasks)
            return .lost("the connection is lost")
        } catch let end as End {
            return end
        } catch let failure as any ConnectionFailure {
            return .lost(failure.reason)
        } catch is CancellationError {
            return .lost("stopped")
        }
    }
}

extension WebSocket {
    /// Why it is over, for people.
    var farewell: String {
        let words = end.map { $0.reason.isEmpty ? "close code \($0.code)" : $0.reason } ?? "no reason given"
        return "the connection is lost: \(words)"
    }
}
