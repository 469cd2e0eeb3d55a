import Chat
import Crypto
import JSON
import Testing

@testable import Services

/// A source that a test tells what to give.
final class ScriptedSource: TokenSource {
    let asked = Locked(0)
    let mayImprove: Bool
    private let answer: @Sendable (Int) async throws(TokenError) -> String

    init(mayImprove: Bool = true, _ answer: @escaping @Sendable (Int) async throws(TokenError) -> String) {
        self.mayImprove = mayImprove
        self.answer = answer
    }

    var place: String { "the script" }

    func token() async throws(TokenError) -> String {
        try await answer(
            asked.withLock { asked in
                asked += 1
                return asked
            })
    }
}

/// A token of so many seconds, issued now.
func token(_ number: Int = 1, life: Int64, at now: Timestamp, identity: String = "bot") -> String {
    let seconds = now.milliseconds / 1000
    return SignedTokenSource.sign(
        [
            "jti": .string("number-\(number)"), "iat": .int(seconds), "exp": .int(seconds + life),
            "grants": ["identity": .string(identity), "chat": ["service_sid": "IS01"]],
        ], secret: "a made-up secret")
}

@Suite(.timeLimit(.minutes(1))) struct AccessTokens {
    @Test func `a token is signed as Twilio's libraries do`() {
        let claims: JSON = [
            "jti": "SKzzzzaaaabbbbccccddddeeeeffff00zz-1700000000",
            "iss": "SKzzzzaaaabbbbccccddddeeeeffff00zz",
            "sub": "ACzzzz22223333444455556666777788zz", "exp": 1_700_003_600,
            "grants": [
                "identity": "bot", "chat": ["service_sid": "IS0f1e2d3c4b5a69788796a5b4c3d2e1f0"],
            ],
        ]
        let token = SignedTokenSource.sign(claims, secret: "made-up-signing-secret-for-tests")
        #expect(token.hasSuffix(".sSANs9fwHz6Hdhl4P88TrKeFBIw_g7BkMzDn0xitLqI"))
        let read = AccessToken(token, fetched: Timestamp(milliseconds: 1_700_000_000_000))
        #expect(
            read.claims
                == AccessToken.Claims(
                    identity: "bot", service: "IS0f1e2d3c4b5a69788796a5b4c3d2e1f0",
                    account: "ACzzzz22223333444455556666777788zz", issued: nil, notBefore: nil,
                    expires: Timestamp(milliseconds: 1_700_003_600_000), algorithm: "HS256"))
        #expect(read.life == .seconds(3600))
        #expect(read.refreshAfter == Timestamp(milliseconds: 1_700_002_880_000))
    }

    @Test func `a token prints as its end only`() {
        let text = token(life: 60, at: .now)
        let read = AccessToken(text, fetched: .now)
        #expect("\(read)" == "token(…\(text.suffix(4)))")
        #expect(String(reflecting: read) == "token(…\(text.suffix(4)))")
        #expect(!"\(dump(read, to: &sink))\(sink)".contains(text.prefix(20)))
        #expect("\(AccessToken("short", fetched: .now))" == "token(…)")
    }

    private var sink: String {
        get { "" }
        nonmutating set {}
    }

    @Test func `a clock that is an hour ahead does not make a new token look dead`() {
        let issuer = Timestamp(milliseconds: 1_700_000_000_000)
        let read = AccessToken(token(life: 600, at: issuer), fetched: issuer + .seconds(3600))
        #expect(read.life == .seconds(600))
        let behind = AccessToken(token(life: 600, at: issuer), fetched: issuer - .seconds(3600))
        #expect(behind.life == .seconds(600))
        let used = AccessToken(token(life: 600, at: issuer), fetched: issuer + .seconds(500))
        #expect(used.life == .seconds(100))
    }

    @Test func `a refused token is told by what is wrong with it`() {
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        func words(_ text: String, at moment: Timestamp) -> String {
            let read = AccessToken(text, fetched: now)
            let words = read.diagnosis(identity: "bot", at: moment)
            return String(words.dropFirst("\(read): ".count))
        }
        let good = token(life: 600, at: now)
        #expect(
            words(good, at: now)
                == "it looks right to us: for \"bot\" in IS01, valid for another 10 min by our clock")
        #expect(words(good, at: now + .seconds(700)) == "it expired 100 s ago by our clock")
        #expect(words(good, at: now - .seconds(700)) == "it is not valid for another 11 min by our clock")
        let other = token(life: 600, at: now, identity: "ana")
        #expect(words(other, at: now) == "it is for \"ana\" and not for \"bot\"")
        let sync = SignedTokenSource.sign(["grants": ["identity": "bot", "data_sync": [:]]], secret: "x")
        #expect(words(sync, at: now) == "it has no chat grant with a service_sid")
        let opaque = AccessToken("not a web token, only text", fetched: now)
        #expect(
            opaque.diagnosis(identity: nil, at: now) == "\(opaque) cannot be read: it is not a JSON web token"
        )
    }
}

@Suite(.timeLimit(.minutes(1))) struct Keeping {
    let time = ManualTime()

    private func keeper(_ source: ScriptedSource) -> TokenKeeper {
        TokenKeeper(source: source, clock: time.clock, log: .silent)
    }

    /// A keeper that has asked early for another token, and still has the first.
    private func secondAsked(
        of source: ScriptedSource
    ) async throws -> (keeper: TokenKeeper, running: Task<Void, any Error>, first: AccessToken) {
        let keeper = keeper(source)
        let running = Task { try await keeper.run() }
        let first = try await keeper.current()
        time.advance(to: await time.nextWake())
        await eventually { source.asked.withLock { $0 } == 2 }
        #expect(try await keeper.current() == first)
        return (keeper, running, first)
    }

    @Test func `fifty callers at once make one fetch`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let time = time
        let source = ScriptedSource { _ in
            for await _ in gate { break }
            return token(life: 60, at: time.now)
        }
        let keeper = keeper(source)
        let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<50 { group.addTask { try await keeper.current() } }
            await eventually { source.asked.withLock { $0 } == 1 }
            open.yield()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(tokens.count == 50)
        #expect(Set(tokens.map(\.text)).count == 1)
        #expect(source.asked.withLock { $0 } == 1)
    }

    @Test(arguments: [5, 30, 3600])
    func `the hundredth refresh comes as the first, at 80 % of each life`(life: Int64) async throws {
        let time = time
        let source = ScriptedSource { token($0, life: life, at: time.now) }
        let keeper = keeper(source)
        let running = Task { try await keeper.run() }
        var current = try await keeper.current()
        let start = time.now
        for round in 1...100 {
            let wake = await time.nextWake()
            #expect(wake == current.refreshAfter)
            time.advance(to: wake)
            let next = try await keeper.replacement(of: current)
            #expect(next.fetched == start + .milliseconds(life * 800) * round)
            current = next
        }
        #expect(source.asked.withLock { $0 } == 101)
        running.cancel()
        _ = await running.result
    }

    @Test func `an early refresh that fails leaves the old token in use until it expires`() async throws {
        let time = time
        let source = ScriptedSource { number throws(TokenError) in
            if number > 1 { throw TokenError(.again, "503") }
            return token(number, life: 100, at: time.now)
        }
        let (keeper, running, first) = try await secondAsked(of: source)
        time.advance(to: await time.nextWake())
        await eventually { source.asked.withLock { $0 } == 3 }
        #expect(try await keeper.current() == first)
        time.advance(to: first.expires)
        await #expect(throws: TokenError(.again, "503")) {
            let waiting = Task { try await keeper.current() }
            time.advance(to: await time.nextWake())
            _ = try await waiting.value
        }
        running.cancel()
        _ = await running.result
    }

    @Test func `a good token is not given up for what cannot be read as one`() async throws {
        let time = time
        let source = ScriptedSource { number in
            number == 2 ? "abc" : token(number, life: 100, at: time.now)
        }
        let (keeper, running, first) = try await secondAsked(of: source)
        time.advance(to: await time.nextWake())
        let next = try await keeper.replacement(of: first)
        #expect(next.text != "abc" && next.fetched < first.expires)
        running.cancel()
        _ = await running.result
    }

    @Test func `pauses between failed fetches grow to a minute`() async throws {
        let time = time
        let source = ScriptedSource { _ throws(TokenError) in throw TokenError(.again, "503") }
        let keeper = keeper(source)
        var pauses: [Int64] = []
        for _ in 0..<9 {
            let begun = time.now
            let waiting = Task { try await keeper.current() }
            if !pauses.isEmpty || source.asked.withLock({ $0 }) > 0 {
                time.advance(to: await time.nextWake())
            }
            _ = await waiting.result
            pauses.append((time.now - begun).milliseconds)
        }
        #expect(pauses == [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    }

    @Test func `a refused token is not given out again, and refusing it twice changes nothing`() async throws
    {
        let time = time
        let source = ScriptedSource { token($0, life: 100, at: time.now) }
        let keeper = keeper(source)
        let first = try await keeper.current()
        await keeper.invalidate(first)
        let second = try await keeper.current()
        #expect(second != first)
        await keeper.invalidate(first)
        #expect(try await keeper.current() == second)
        #expect(source.asked.withLock { $0 } == 2)
    }

    @Test func `told that a token is about to expire, the keeper gets another, once`() async throws {
        let time = time
        let source = ScriptedSource { token($0, life: 100, at: time.now) }
        let keeper = keeper(source)
        let first = try await keeper.current()
        await keeper.expectExpiry(of: first)
        await keeper.expectExpiry(of: first)
        let second = try await keeper.replacement(of: first)
        await keeper.expectExpiry(of: first)
        #expect(try await keeper.current() == second)
        #expect(source.asked.withLock { $0 } == 2)
    }

    @Test func `a caller that is cancelled stops waiting, the others get the token`() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let time = time
        let source = ScriptedSource { _ in
            for await _ in gate { break }
            return token(life: 60, at: time.now)
        }
        let keeper = keeper(source)
        let patient = Task { try await keeper.current() }
        let hasty = Task { try await keeper.current() }
        await eventually { source.asked.withLock { $0 } == 1 }
        hasty.cancel()
        await #expect(throws: CancellationError.self) { try await hasty.value }
        open.yield()
        #expect(try await patient.value.life == .seconds(60))
    }
}
