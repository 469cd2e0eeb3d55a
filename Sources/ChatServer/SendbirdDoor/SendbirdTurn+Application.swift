internal import Chat
internal import JSON

extension SendbirdTurn {
    /// `/applications/…`: what concerns all of the service.
    func application(_ path: [String], _ world: inout World) throws -> SendbirdAnswer {
        guard request.isService else { throw SendbirdRefusal.notAuthorized }
        guard path == ["settings", "webhook"] else { throw nothingHere }
        switch request.method {
        case "GET": break
        case "PUT":
            var hook = world.hook ?? SendbirdHook()
            hook.take(request.fields)
            guard !hook.isEnabled || hook.url.hasPrefix("http://") || hook.url.hasPrefix("https://") else {
                throw SendbirdRefusal(400111, "\"url\" must be an address of HTTP.")
            }
            world.set(hook)
        default: throw nothingHere
        }
        let hook = world.hook ?? SendbirdHook()
        return SendbirdAnswer { writer in writer.object("webhook") { hook.write(&$0) } }
    }
}

extension World {
    mutating func set(_ hook: SendbirdHook) {
        self.hook = hook
        var writer = JSONWriter()
        writer.object { hook.write(&$0) }
        note(.name("sendbird webhook", writer.bytes))
    }
}
