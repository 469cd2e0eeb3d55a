internal import Chat

/// What a bot's file may say, described by the tables that read it: for the manual and for editors.
package struct LanguageReference: Sendable {
    /// Keys, events and actions of one mapping.
    package struct Table: Sendable {
        /// Such as `rule`; unique.
        package var name: String
        /// In a sentence: `a rule`.
        package var owner: String
        package var keys: [Key]
        package var required: [String]
    }

    package struct Key: Sendable {
        package var name: String
        package var about: String
        package var takes: ValueShape
    }

    package struct Entry: Sendable {
        package var name: String
        package var about: String
    }

    /// The file itself first, then in the order in which they are met.
    package let tables: [Table]
    package let events: [String]
    package let values: [Entry]
    package let filters: [Entry]
    /// Warnings that a comment can allow, by their codes.
    package let warnings: [Entry]

    package init() {
        let witness = ShapeWitness()
        witness.describe(BotTables.file, from: BotFile(name: ""))
        tables = witness.tables
        events = EventName.allCases.map(\.rawValue)
        values = TemplateRoot.all.flatMap { root in
            root.fields.map { field in
                Entry(name: field.name.isEmpty ? root.name : "\(root.name).\(field.name)", about: field.about)
            }
        }
        filters = TemplateFilter.all.map { Entry(name: $0.name, about: $0.about) }
        warnings = FindingCode.warnings.map { Entry(name: $0.rawValue, about: $0.about ?? "") }
    }
}

/// What may stand behind a key.
package struct ValueShape: Sendable, Equatable {
    package enum Scalar: Sendable, Equatable {
        case text
        /// true or false.
        case truth
        /// One of these words.
        case words([String])
    }

    package var scalar: Scalar?
    /// A list, and what its items may be.
    package var items: [ValueShape] = []
    /// A mapping whose keys are names that people choose, and what may stand behind each.
    package var entries: [ValueShape] = []
    /// A mapping with the keys of this table.
    package var table: String?
    /// Of the table's keys exactly one is written.
    package var isOneKey = false
    /// Of these keys of the table exactly one is written; empty: that does not matter.
    package var oneOf: [String] = []

    package var isNothing: Bool { scalar == nil && items.isEmpty && entries.isEmpty && table == nil }
}
