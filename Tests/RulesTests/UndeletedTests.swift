import Chat
import Testing

@testable import Rules

/// A message that a guard wanted deleted is still there.
@Suite struct UndeletedTests {
    private func scene(_ defaults: String, _ rest: String = "") throws -> Scene {
        try Scene(
            """
            version: 1
            \(defaults)
            rules:
              bad:
                when: [messageAdded, messageEdited]
                if: {text: bad}
                do: [delete\(rest)]
            """)
    }

    private func tell(_ scene: Scene, reportTo: String? = nil, rule: String = "bad") -> [String] {
        let continuation = Undeleted.continuation(
            by: rule, why: "no permission", in: Place(account: "twilio", channel: "general"),
            author: "ana", inCase: "C1", reportTo: reportTo)
        return scene.resume(continuation, .failed("no permission"), in: scene.channel("general"))
            .actions.map(describe)
    }

    private let words =
        "⚠️ A message of ana in General is still there, for it could not be deleted: no permission "
        + "(rule \"bad\", case C1)."

    @Test func `staff are told where the rule reports, else where its file does, else where all do`() throws {
        #expect(try tell(scene("defaults: {report_to: staff}")) == ["send staff: \(words)"])
        let own = try scene("defaults: {report_to: staff}", ", {report: {text: x, to: support}}")
        #expect(tell(own, reportTo: "general") == ["send support: \(words)"])
        #expect(try tell(scene("vars: {}"), reportTo: "staff") == ["send staff: \(words)"])
        #expect(try tell(scene("vars: {}")) == [])
    }

    @Test func `staff are told of somebody who could not be muted, and what is done instead`() throws {
        func tell(deletes: Bool) throws -> [String] {
            let continuation = Undeleted.continuation(
                by: "bad", why: "it needs power 100", in: Place(account: "twilio", channel: "general"),
                of: "ana", deletes: deletes, inCase: "C1", reportTo: nil)
            let scene = try scene("defaults: {report_to: staff}")
            return scene.resume(continuation, .failed("no"), in: scene.channel("general")).actions.map(
                describe)
        }
        let words = "send staff: ⚠️ ana could not be muted in General: it needs power 100"
        #expect(try tell(deletes: false) == ["\(words) (rule \"bad\", case C1)."])
        let instead = "; what they write is deleted instead"
        #expect(try tell(deletes: true) == ["\(words)\(instead) (rule \"bad\", case C1)."])
    }

    @Test func `of many in one channel they are told once a minute`() throws {
        let scene = try scene("defaults: {report_to: staff}")
        #expect(tell(scene).count == 1)
        #expect(tell(scene) == [])
    }

    @Test func `what no rule of the files wanted is nobody's`() throws {
        #expect(try tell(scene("defaults: {report_to: staff}"), rule: "gone") == [])
    }
}
