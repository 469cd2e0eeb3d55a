import Chat
import Testing

@testable import Rules

/// Whatever people write or call themselves, it is printed letter by letter: it calls nobody, is no template, and is
/// no markup.
@Suite struct PeoplesTexts {
    /// Everything that people can give a text of their own, as a template prints it.
    private static let values = [
        "{{ user }}", "{{ user.name }}", "{{ user.mention }}", "{{ message.text }}",
        "{{ message.attachments }}",
        "{{ message.attachments | join(', ') }}", "{{ message.attachments | first }}", "{{ channel }}",
        "{{ channel.title }}", "{{ match.all }}", "{{ match.all | default('x') }}", "{{ vars.own }}",
        "{{ vars.own | lower }}", "{{ vars.own | truncate(500) }}", "{{ message.text | trim }}",
        "{{ message.text | replace('zz', '@') }}", "{{ message.text | quote }}", "{{ message.text | code }}",
        "{{ message.text | json }}", "{{ message.text | first }}", "{{ message.text | last }}",
        "{{ message.text | after('zz') | default(user.name) }}", "{{ user | mention }}",
        "{{ user | names(1) }}",
    ]

    /// The actions that say something, with a text in it.
    private static let actions = [
        "{reply: TEXT}", "{send: TEXT}", "{dm: TEXT}", "{warn: TEXT}", "{relay: {to: staff, text: TEXT}}",
        "{relay: {to: staff, text: TEXT, quote: true}}", "{relay: {to: staff, quote: true}}",
        "{relay: staff}",
        "{reply: {text: TEXT, quote: true}}", "{send: {to: staff, text: hi, footer: TEXT}}",
        "{choose: [{do: [{reply: TEXT}]}]}",
    ]

    private func said(_ text: String, _ name: String, _ action: String, _ markup: Abilities.Markup) throws
        -> [String]
    {
        var abilities = Scene.abilities
        abilities.markup = markup
        let scene = try Scene(
            """
            version: 1
            rules:
              it:
                when: [messageAdded, messageEdited]
                if: {text: {regex: '(?s)(?<all>.+)', skip: none}}
                vars: {own: "{{ user.name }} {{ message.text }}"}
                do: [\(action)]
            """, abilities: abilities)
        let message = scene.message(
            text, by: scene.member("ana", name: name),
            attachments: [.init(id: "1", name: text, contentType: "text/plain", size: 1)])
        return scene.take(scene.event(.messageAdded(message), in: scene.channel("general", title: name)))
    }

    private func eachWay(_ body: (_ action: String, _ markup: Abilities.Markup) throws -> Void) throws {
        for markup in [Abilities.Markup.plain, .markdown, .html] {
            for (number, value) in Self.values.enumerated() {
                let action = Self.actions[number % Self.actions.count]
                for action in [action, "{reply: TEXT}"] {
                    try body(action.replacing("TEXT", with: "\"\(value)\""), markup)
                }
            }
            for action in Self.actions {
                try body(action.replacing("TEXT", with: "\"{{ message.text }}\""), markup)
            }
        }
    }

    @Test func `nobody is called through a value, be it in a code span or behind one`() throws {
        for text in [
            "@everyone", "` @everyone", "``` \n@everyone", "x`@everyone`", "@@everyone", "> @everyone",
        ] {
            try eachWay { action, markup in
                let said = try said(text, text, action, markup)
                #expect(!said.isEmpty, "\(action)")
                for line in said {
                    #expect(
                        !line.contains("@everyone") && !line.contains("[calls"),
                        "\(action) \(markup): \(line)")
                }
            }
        }
    }

    @Test func `a value that is a template is printed letter by letter`() throws {
        let text = "{{user.id}}{{message.id|upper}}${HOME}{user}%s$name"
        try eachWay { action, markup in
            for line in try said(text, text, action, markup) {
                let plain = line.replacing("\\", with: "").replacing("&quot;", with: "\"")
                let letters = action.contains("lower") ? text.lowercased() : text
                #expect(plain.contains(letters), "\(action) \(markup): \(line)")
            }
        }
    }

    @Test func `who is called is in mention, whatever the text says`() throws {
        for markup in [Abilities.Markup.plain, .markdown, .html] {
            let said = try said(
                "@ben @everyone", "@cho",
                "{reply: {text: \"{{ user.mention }} {{ message.text }}\", mention: user}}",
                markup)
            #expect(said == ["reply general: @@\u{200B}cho @\u{200B}ben @\u{200B}everyone [calls ana]"])
        }
    }
}
