internal import Chat
internal import Engine
internal import Rules

/// A ceiling as it is written: `10 per 1h`, `200 per 1m per channel`.
struct CeilingText: Decodable, Sendable {
    var ceiling: Ceiling
    var isPerChannel: Bool

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let words = text.split(separator: " ").map(String.init)
        let isPerChannel = words.count == 5 && words[3...] == ["per", "channel"]
        guard words.count == 3 || isPerChannel, words[1] == "per", let count = Int(words[0]) else {
            throw SettingsMistake("\"\(text)\" is not a ceiling - try \"20 per 10m\"")
        }
        guard (1...Ceiling.most).contains(count) else {
            throw SettingsMistake("a ceiling is 1 to \(Ceiling.most): nothing is without end")
        }
        let time: Duration
        do {
            time = try Duration(text: words[2])
        } catch {
            throw SettingsMistake([error.problem, error.hint].compactMap(\.self).joined(separator: " - "))
        }
        guard (Duration.seconds(1)...Duration.seconds(30 * 86_400)).contains(time) else {
            throw SettingsMistake("the time of a ceiling is 1s to 30d")
        }
        ceiling = Ceiling(count, per: time)
        self.isPerChannel = isPerChannel
    }
}
