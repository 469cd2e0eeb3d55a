internal import JSON

/// A text on its way out: what is shown plain, the same as HTML where somebody is mentioned, and whom to notify.
struct MessageText {
    private(set) var content: JSONObject

    /// `mentions` are user ids, or `@room`; nobody else is notified, whatever the text says. `name` tells what somebody is
    /// called.
    init(_ text: String, mentions: [String], name: (String) -> String) {
        let users = mentions.filter { $0 != "@room" }
        var notified = JSONObject()
        if !users.isEmpty { notified["user_ids"] = .array(users.map { .string($0) }) }
        if mentions.contains("@room") { notified["room"] = true }
        content = ["body": .string(text), "m.mentions": .object(notified)]
        guard !users.isEmpty else { return }
        var html = Self.escaped(text)
        // The longest names first, so that none is found inside of another.
        let people = users.map { (id: $0, name: name($0)) }.sorted { $0.name.utf8.count > $1.name.utf8.count }
        var places: [(String, String)] = []
        for (number, person) in people.enumerated() where !person.name.isEmpty {
            // A mark that no text has, as the text of a link must not be searched again.
            let mark = "\u{F8FF}\(number)\u{F8FF}"
            let shown = Self.escaped("@" + person.name)
            guard html.contains(shown) else { continue }
            html = html.replacing(shown, with: mark)
            let link = Self.escaped("https://matrix.to/#/" + person.id.percentEncoded)
            places.append((mark, "<a href=\"\(link)\">\(Self.escaped(person.name))</a>"))
        }
        guard !places.isEmpty else { return }
        for (mark, link) in places { html = html.replacing(mark, with: link) }
        content["format"] = "org.matrix.custom.html"
        content["formatted_body"] = .string(html)
    }

    /// Text as HTML that shows it as it is.
    static func escaped(_ text: String) -> String {
        var html = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            case "\n": html += "<br>"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }
}
