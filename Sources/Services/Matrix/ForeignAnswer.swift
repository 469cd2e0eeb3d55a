internal import HTTP
internal import JSON

/// An answer that no homeserver gives: of a proxy before it, or of another server altogether. It says nothing about what
/// was asked for, and may be another one in a minute.
struct ForeignAnswer {
    /// What to look at, for people.
    let description: String

    /// Nil for an answer of Matrix's. Source: client-server specification, "Standard error response": each has an
    /// `errcode`, but for a 401 that names the steps of a registration.
    init?(_ answer: IncomingAnswer, from base: String) {
        let place = Self.withoutUser(base)
        switch answer.status {
        case 200..<300:
            let first = answer.body.first { !Self.spaces.contains($0) }
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return nil }
        case 300..<400:
            if let location = answer.header("location"), let path = location.firstRange(of: "/_matrix/"),
                location.contains("://")
            {
                let target = Self.withoutUser(String(location[..<path.lowerBound]))
                description = "\(place) sends steward on to \(target) - write that as \"homeserver\""
                return
            }
        // A pause is a pause, and what is too long or too much stays so, whoever says it.
        case 408, 413, 429: return nil
        case 400..<500:
            let error = try? JSON(parsing: answer.body)
            if error?["errcode"]?.string != nil || error?["flows"] != nil { return nil }
        default: return nil
        }
        let type = answer.header("content-type").map { $0.prefix { $0 != ";" && $0 != " " }.prefix(60) }
        description =
            "\(place) answers, but not as a Matrix homeserver does (status \(answer.status), \(type ?? "no content type"))"
            + " - is \"homeserver\" right, or does something stand before it?"
    }

    private static let spaces: Set<UInt8> = [9, 10, 13, 32]

    /// The URL as it may be shown: who logs in with it may stand in it, and what is behind a `?`.
    private static func withoutUser(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let host = rest.prefix { $0 != "/" }
        guard let at = host.lastIndex(of: "@") else { return String(url[..<scheme.upperBound] + rest) }
        return String(url[..<scheme.upperBound] + rest[rest.index(after: at)...])
    }
}
