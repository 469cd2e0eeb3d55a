internal import Chat
internal import Unicode

/// What is told of rules that keep order.
extension RuleTelling {
    func moderation(_ action: ChatAction) -> String {
        let place = name(of: action.place)
        func time(_ until: Timestamp?) -> String {
            until.map { "for \(($0 - situation.now).words)" } ?? "without an end"
        }
        func why(_ reason: String?) -> String { reason.map { ": \($0)" } ?? "" }
        switch action.verb {
        case .mute(let user, let until, let reason):
            return "mute \(user) in \(place) \(time(until))\(why(reason))"
        case .unmute(let user): return "unmute \(user) in \(place)"
        case .removeMember(let user): return "kick \(user) out of \(place)"
        case .ban(let user, let until, let reason):
            return "ban \(user) from \(place) \(until == nil ? "for good" : time(until))\(why(reason))"
        case .unban(let user): return "unban \(user) in \(place)"
        case .slowMode(let time): return "slow mode of \(place): \(time?.words ?? "none")"
        case .lock(let until, let reason): return "lock \(place) \(time(until))\(why(reason))"
        case .unlock: return "unlock \(place)"
        case .addMember(let user): return "invite \(user) to \(place)"
        case .joinChannel: return "join \(place)"
        case .leaveChannel: return "leave \(place)"
        case .createChannel(let title, _): return "create the channel \(title)"
        case .setChannelTitle(let title): return "call \(place): \(title)"
        case .setChannelTopic(let topic): return "topic of \(place): \(topic)"
        case .denyServers(let servers): return "keep out of \(place): \(Self.few(servers))"
        case .admitServers(let servers): return "admit to \(place): \(Self.few(servers))"
        default: return "\(action.verb)"
        }
    }

    static func moderation(_ change: MemoryChange) -> String? {
        switch change {
        case .set(let key, .text(let text), _) where key.owner == "steward" && key.name.hasPrefix("strikes."):
            guard let entry = StrikeLedger(text: text)?.entries.last else { return nil }
            let points = "\(entry.points < 0 ? "" : "+")\(entry.points)"
            return "strike \(points) on \(key.name.dropFirst("strikes.".count))\(whose(key))"
                + (entry.reason.map { ": \($0)" } ?? "")
        case .forget(let key) where key.owner == "steward" && key.name.hasPrefix("strikes."):
            return "forget the strikes on \(key.name.dropFirst("strikes.".count))\(whose(key))"
        case .set(let key, _, let keep) where key.owner == "steward" && key.name.hasPrefix("permit."):
            return "permit \(key.name.dropFirst("permit.".count))\(whose(key)) for \(keep?.words ?? "ever")"
        case .set(Mode.key, let value, _): return Mode(value).map { "enter the mode \($0.name)" }
        case .forget(Mode.key): return "leave the mode"
        default: return nil
        }
    }

    /// Why somebody is not meant.
    func moderation(_ objection: UserTest.Objection) -> String {
        let who = event.member?.name ?? "nobody"
        return switch objection {
        case .strikes(let total, let ladder, let range):
            "\(who) has \(total == 1 ? "1 point" : "\(total) points") on \(ladder), not \(range)"
        case .permit(let names): "\(who) has no permit for \(names.joined(separator: " or "))"
        case .hasPermit(let name): "\(who) has a permit for \(name)"
        case .leftBy(.choice): "\(who) was removed"
        case .leftBy(.removal): "\(who) left by choice"
        default: "a condition does not hold"
        }
    }

    /// The first of many.
    static func few(_ names: [String]) -> String {
        names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
    }

    /// The same said many times is said once.
    static func grouped(_ lines: [String]) -> [String] {
        var result: [(line: String, count: Int)] = []
        for line in lines {
            if let last = result.last, last.line == line {
                result[result.count - 1].count += 1
            } else {
                result.append((line, 1))
            }
        }
        return result.map { $0.count == 1 ? $0.line : "\($0.line) (\($0.count) times)" }
    }
}
