internal import Chat
internal import Engine
internal import JSON
internal import Rules
internal import Zones

/// All that is known of one person, for `steward state export --user`.
struct RememberedPerson {
    let json: JSON

    init(_ user: String, _ wanted: String?, _ config: Config, _ journal: SQLiteJournal) async throws {
        let realm = try Self.one(of: try await Self.realms(of: user, in: journal), user, wanted)
        let remembered = RememberedUser.find(user, in: try await journal.rows(of: .memory)).first {
            $0.realm == realm
        }
        var object: [(String, JSON)] = [("user", .string(user)), ("realm", .string(realm))]
        if let facts = remembered?.facts {
            object += [
                ("first_seen", Self.moment(facts.firstSeen)), ("last_seen", Self.moment(facts.lastSeen)),
                ("messages", .int(facts.messages)),
            ]
        }
        object.append(("remembered", .array((remembered?.values ?? []).map(Self.json))))
        var cases: [JSON] = []
        for row in try await journal.rows(of: .cases) {
            guard let found = JSONRow.value(Case.self, from: row.body), found.user == user,
                found.realm == realm
            else { continue }
            let body = try await journal.rows(of: .evidence, keys: [found.name]).first?.body
            let report = CaseReport(found, CaseReport.Texts(found, body, config))
            if let json = try? JSON(parsing: Array(report.json.utf8)) { cases.append(json) }
        }
        object.append(("cases", .array(cases)))
        let identities = Identities()
        let id = identities.realm(realm).user(user)
        let events = try await journal.keptEvents(since: Timestamp(milliseconds: 0)).flatMap {
            EventCoding.events(in: $0, realms: identities)
        }
        object.append(("events", .array(events.filter { $0.member?.user == id }.map(EventLines.json))))
        json = .object(JSONObject(object))
    }

    static func realms(of user: String, in journal: SQLiteJournal) async throws -> [String] {
        let remembered = RememberedUser.find(user, in: try await journal.rows(of: .memory)).map(\.realm)
        let cases = try await journal.rows(of: .cases).compactMap { JSONRow.value(Case.self, from: $0.body) }
        return Set(remembered + cases.filter { $0.user == user }.map(\.realm)).sorted()
    }

    static func one(of realms: [String], _ user: String, _ wanted: String?) throws -> String {
        let known = realms.filter { wanted == nil || $0 == wanted }
        guard let first = known.first else {
            throw SettingsMistake("nothing is remembered of a user \"\(user)\" - users go by their ids")
        }
        guard known.count == 1 else {
            throw UsageMistake(
                "several services know a \"\(user)\" - add one of: "
                    + known.map { "--realm \($0)" }.joined(separator: ", "))
        }
        return first
    }

    private static func json(_ value: RememberedUser.Value) -> JSON {
        if let punishment = Punishment(value.value), Punishment.isName(value.name) {
            return .object(
                JSONObject([
                    ("name", .string(value.name)), ("holds", .array(punishment.all.map(json))),
                    ("until", moment(punishment.until)),
                ]))
        }
        if value.name.hasPrefix("strikes."), case .text(let text) = value.value,
            let ledger = StrikeLedger(text: text)
        {
            return .object(
                JSONObject([
                    ("name", .string(value.name)), ("strikes", .array(ledger.entries.map(json))),
                    ("until", moment(value.until)),
                ]))
        }
        let content: JSON =
            switch value.value {
            case .number(let number): .int(number)
            case .text(let text): .string(text)
            case .times(let times): .array(times.map { moment($0) })
            }
        return .object(
            JSONObject([
                ("by", .string(value.owner)), ("name", .string(value.name)), ("value", content),
                ("until", moment(value.until)),
            ]))
    }

    private static func json(_ punishment: Punishment) -> JSON {
        .object(
            JSONObject([
                ("by", .string(punishment.by)),
                ("reason", punishment.reason.map { .string($0) } ?? .null),
                ("since", moment(punishment.at)), ("until", moment(punishment.until)),
            ]))
    }

    private static func json(_ entry: StrikeLedger.Entry) -> JSON {
        .object(
            JSONObject([
                ("points", .int(entry.points)), ("at", moment(entry.at)), ("by", .string(entry.by)),
                ("reason", entry.reason.map { .string($0) } ?? .null), ("event", .string(entry.event)),
                ("moderator", entry.moderator.map { .string($0) } ?? .null),
            ]))
    }

    private static func moment(_ time: Timestamp?) -> JSON {
        time.map { .string(ISO8601.text($0.milliseconds)) } ?? .null
    }
}
