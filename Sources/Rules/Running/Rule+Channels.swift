internal import Chat
internal import Unicode

/// Actions that change channels and who is in them.
extension Rule {
    func changeChannel(_ step: BotStep, _ acting: Acting, into decision: inout Decision) {
        switch step.verb {
        case .invite:
            guard let member = target(step, acting) else { break }
            add(.addMember(user: member.user.text), step, acting, to: &decision)
        case .join:
            guard let place = place(step, acting) else { break }
            decision.actions.append(ChatAction(.joinChannel, in: place, by: id, path: step.path))
        case .leave: add(.leaveChannel, step, acting, to: &decision)
        case .title:
            if let text = line(step, acting) { add(.setChannelTitle(text), step, acting, to: &decision) }
        case .topic:
            if let text = line(step, acting) { add(.setChannelTopic(text), step, acting, to: &decision) }
        case .create:
            guard let title = line(step, acting) else { break }
            let guests = step.deed.guests.flatMap { acting.values.userIDs($0.value) }.unique
            let place = Place(account: acting.event.account, channel: "")
            var action = ChatAction(
                .createChannel(title: title, attributes: nil), in: place, by: id, path: step.path)
            if !guests.isEmpty {
                action.then = Continuation(
                    owner: id, step: "\(step.path).created",
                    values: ["account": place.account, "guests": guests.joined(separator: "\n")])
            }
            decision.actions.append(action)
        case .acl:
            let denied = servers(step.deed.denied, acting) + listed(step, acting)
            let allowed = servers(step.deed.allowed, acting)
            if !denied.isEmpty { add(.denyServers(denied.unique), step, acting, to: &decision) }
            if !allowed.isEmpty {
                var step = step
                if !denied.isEmpty { step.path += ".allow" }
                add(.admitServers(allowed.unique), step, acting, to: &decision)
            }
        default: break
        }
    }

    /// Which channel a text names: `#lobby:example.org`, on the account that read the event, or with its account before.
    private func place(_ step: BotStep, _ acting: Acting) -> Place? {
        guard let name = line(step, acting) else { return nil }
        let directory = acting.situation.directory
        let named = directory.places(named: name)
        return named.first { $0.account == acting.event.account } ?? named.first
            ?? Place(account: acting.event.account, channel: name)
    }

    /// What the step says, in one line that services take.
    private func line(_ step: BotStep, _ acting: Acting) -> String? {
        let text = step.message.text?.value(acting.values).plain ?? ""
        let line = String(text.map { $0.isNewline ? " " : $0 }).trimmed
        return line.isEmpty ? nil : String(line.prefix(200))
    }

    private func servers(_ templates: [Template], _ acting: Acting) -> [String] {
        templates.map { $0.value(acting.values).plain.trimmed.lowercased() }
            .filter { !$0.isEmpty && $0.utf8.count <= 255 && !$0.contains(where: \.isWhitespace) }
    }

    private func listed(_ step: BotStep, _ acting: Acting) -> [String] {
        let policies = acting.situation.directory.policies
        return step.deed.policyLists.flatMap { policies.policies(of: $0.value) }
            .filter { $0.subject == .server }.map { $0.entity.lowercased() }
    }
}

extension Continuation {
    /// Asks people into a channel that is there now.
    func invitations(_ receipt: Receipt, _ account: String) -> [ChatAction] {
        guard let channel = receipt.channel, let guests = values["guests"] else { return [] }
        return guests.split(separator: "\n").enumerated().map { number, user in
            ChatAction(
                .addMember(user: String(user)), in: Place(account: account, channel: channel), by: owner,
                path: String(step.dropLast(".created".count)) + ".invite[\(number)]")
        }
    }
}
