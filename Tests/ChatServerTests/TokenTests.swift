import Chat
import Crypto
import JSON
import Testing

@testable import ChatServer

@Suite struct Tokens {
    private let names = ServiceNames(
        account: .fresh(.account), service: .fresh(.service), messagingService: .fresh(.messagingService),
        key: .fresh(.key), secret: "made-up-signing-secret-for-tests")
    private let now = Timestamp(milliseconds: 1_700_000_000_000)
    private var issuer: TokenIssuer { TokenIssuer(names: names) }

    private var payload: JSONObject {
        let payload: JSON = [
            "iss": .string(names.key.text), "sub": .string(names.account.text), "exp": 1_700_003_600,
            "grants": ["identity": "bot", "chat": ["service_sid": .string(names.service.text)]],
        ]
        return payload.object ?? JSONObject()
    }
    private let header: JSON = ["alg": "HS256", "cty": "twilio-fpa;v=1", "typ": "JWT"]

    private func sign(_ header: JSON, _ payload: JSONObject) -> String {
        issuer.sign(header: header.bytes(), payload: JSON.object(payload).bytes())
    }

    @Test func `the signature is the one that others make of the same token`() {
        let header = #"{"alg":"HS256","cty":"twilio-fpa;v=1","typ":"JWT"}"#
        let payload =
            #"{"jti":"SKzzzzaaaabbbbccccddddeeeeffff00zz-1700000000","iss":"SKzzzzaaaabbbbccccddddeeeeffff00zz","sub":"ACzzzz22223333444455556666777788zz","exp":1700003600,"grants":{"identity":"bot","chat":{"service_sid":"IS0f1e2d3c4b5a69788796a5b4c3d2e1f0"}}}"#
        let token = issuer.sign(header: Array(header.utf8), payload: Array(payload.utf8))
        #expect(token.split(separator: ".").last == "sSANs9fwHz6Hdhl4P88TrKeFBIw_g7BkMzDn0xitLqI")
    }

    @Test func `a token of ours is good until it ends`() throws {
        let token = issuer.token(for: "bot", life: .seconds(5), device: "d", at: now)
        let claims = try issuer.check(token, at: now + .milliseconds(4999))
        #expect(claims == .init(identity: "bot", expires: now + .seconds(5)))
        #expect(throws: TokenIssuer.Refusal.expired) { try issuer.check(token, at: now + .seconds(5)) }
    }

    @Test func `the old name of the grant is taken too`() throws {
        var payload = payload
        payload["grants"] = [
            "identity": "bot", "ip_messaging": ["service_sid": .string(names.service.text)],
        ]
        #expect(try issuer.check(sign(header, payload), at: now).identity == "bot")
    }

    @Test(arguments: [
        (TokenIssuer.Refusal.invalid, 20101), (.header, 20102), (.issuer, 20103), (.expired, 20104),
        (.notYet, 20105), (.grants, 20106), (.signature, 20107), (.tooLong, 20157),
    ])
    func `each mistake in a token has its code`(_ refusal: TokenIssuer.Refusal, _ code: Int) {
        var (header, payload) = (header, payload)
        var token: String?
        switch refusal {
        case .invalid: token = "not.a-token"
        case .header: header = ["alg": "none", "typ": "JWT"]
        case .issuer: payload["iss"] = "SKsomebodyelse"
        case .expired: payload["exp"] = 1_700_000_000
        case .notYet: payload["nbf"] = 1_700_000_060
        case .grants: payload["grants"] = ["identity": "bot", "chat": ["service_sid": "ISother"]]
        case .signature: token = sign(header, payload).dropLast(4) + "AAAA"
        case .tooLong: payload["exp"] = 1_700_090_000
        }
        let made = token ?? sign(header, payload)
        #expect(refusal.rawValue == code)
        #expect(throws: refusal) { try issuer.check(made, at: now) }
    }

    @Test func `a token without an identity lets nobody in`() {
        var payload = payload
        payload["grants"] = ["chat": ["service_sid": .string(names.service.text)]]
        #expect(throws: TokenIssuer.Refusal.grants) { try issuer.check(sign(header, payload), at: now) }
    }
}
