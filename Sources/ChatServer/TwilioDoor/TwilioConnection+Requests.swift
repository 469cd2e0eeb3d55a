internal import Chat
internal import JSON
internal import WebSocket

extension TwilioConnection {
    /// One tunnelled request: taken now, answered when what it changed is stored.
    func perform(_ id: String, _ request: TwilioRequest) {
        let identity = identity
        let isChange = request.method != "GET" && request.path.first == "Client"
        let isPost = request.method == "POST" && request.path.last == "Messages"
        if isPost, door.faults.take(.cutBeforePost, for: identity) { return socket.kill() }
        if let refusal = refusal(request, identity) { return respond(id, refusal, to: request) }
        if isChange, let trouble = door.hall.trouble {
            return respond(id, .refusal(503, code: 20503, trouble), to: request)
        }
        let isCut = isPost && door.faults.take(.cutAfterPost, for: identity)
        let isMute = door.faults.take(.noReply, for: identity)
        let isAccepted = isChange && door.faults.take(.accepted, for: identity)
        let turn = TwilioTurn(
            identity: identity, links: links(for: request), settings: door.settings, rates: door.rates,
            now: .now)
        door.hall.take { world in
            let made = turn.answer(request, &world)
            let answer = isAccepted ? Self.accepted(made) : made
            // Cut here and not below: the events of the change must not arrive either.
            if isCut { state.withLock { $0.isSilent = true } }
            return { audience in
                if isCut { return self.socket.kill() }
                self.carryOut(answer, &audience)
                if !isMute { self.respond(id, answer, to: request) }
            }
        }
    }

    private func links(for request: TwilioRequest) -> TwilioLinks {
        var links = links
        if request.path.count > 1, request.path[0] == "Client" { links.version = request.path[1] }
        // aim.us1.twilio.com, cds.us1.twilio.com
        let host = request.host.split(separator: ":")[safe: 0]?.split(separator: ".") ?? []
        if host.count == 4, host[1].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) {
            links.region = String(host[1])
        }
        return links
    }

    private func refusal(_ request: TwilioRequest, _ identity: String) -> TwilioAnswer? {
        let fault = door.faults.take(for: identity) { fault -> Fault.Kind? in
            if case .refuse = fault { fault } else { nil }
        }
        guard case .refuse(let status, let code, let retryAfter) = fault else { return nil }
        var answer = TwilioAnswer.refusal(status, code: code, TwilioAnswer.words(for: status))
        if let retryAfter { answer.headers.append(("retry-after", String(retryAfter))) }
        return answer
    }

    /// The change was made, but the client is told to look for it.
    private static func accepted(_ answer: TwilioAnswer) -> TwilioAnswer {
        guard let body = try? JSON(parsing: answer.body), let sid = body["sid"]?.string,
            let url = body["url"]?.string
        else { return answer }
        var later = TwilioAnswer.json(202) { writer in
            writer.member("resource_sid", sid)
            writer.member("resource_url", url)
        }
        later.headers = answer.headers
        return later
    }

    private func carryOut(_ answer: TwilioAnswer, _ audience: inout Audience) {
        let isMissing = !answer.subscribed.isEmpty && door.faults.take(.notEstablished, for: identity)
        for notification in answer.notifications where !isMissing { push(notification) }
        for (feed, version) in answer.subscribed { audience.subscribe(self, to: feed, version: version) }
        for feed in answer.cancelled { audience.unsubscribe(self, from: feed) }
        if let (typing, hearers) = answer.typing { audience.tell(typing, to: hearers) }
    }

    private func respond(_ id: String, _ answer: TwilioAnswer, to request: TwilioRequest) {
        let frame = replyFrame(to: id, payload: answer.body) { writer in
            writer.object("http_status") { writer in
                writer.member("code", answer.status)
                writer.member("status", TwilioAnswer.words(for: answer.status))
            }
            writer.object("http_headers") { writer in
                writer.member("content-type", "application/json")
                if let number = request.header("twilio-request-id") {
                    writer.member("twilio-request-id", number)
                }
                for (name, value) in answer.headers { writer.member(name, value) }
            }
        }
        let delay = door.faults.take(for: identity) { fault -> Duration? in
            if case .delayReply(let delay) = fault { delay } else { nil }
        }
        guard let delay else {
            outbox.add(.frame(frame))
            return
        }
        // Only for tests: the writer must not wait, and the reply goes nowhere if the connection ends first.
        Task {
            try? await Task.sleep(for: delay)
            outbox.add(.frame(frame))
        }
    }
}

extension Collection {
    /// Nil outside of the bounds.
    subscript(safe place: Index) -> Element? { indices.contains(place) ? self[place] : nil }
}
