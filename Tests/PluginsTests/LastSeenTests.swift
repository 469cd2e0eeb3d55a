import Chat
import ChatTesting
import Testing

@testable import Plugins

@Suite struct LastSeenPlugin {
    @Test(arguments: [
        (Duration.seconds(0), "just now"), (.seconds(59), "just now"), (.seconds(60), "1 minute ago"),
        (.seconds(7200), "2 hours ago"), (.seconds(86_400 * 3), "3 days ago"),
    ])
    func `how long ago is said in the largest unit that fits`(_ duration: Duration, _ words: String) {
        #expect(LastSeen.words(for: duration) == words)
    }

    @Test func `a setting that makes no sense is named`() {
        let error = #expect(throws: SettingsError.self) {
            try LastSeen(settings: .init(keep: .seconds(1), command: nil))
        }
        #expect(error?.description == "keep must be at least 1m")
        #expect(throws: SettingsError.self) { try LastSeen(settings: .init(keep: nil, command: "two words")) }
    }
}
