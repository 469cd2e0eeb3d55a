internal import Chat
internal import JSON

extension SendbirdTurn {
    /// `/applications/…`: what concerns all of the service.
    func application(_ path: [String], _ world: inout World) throws -> SendbirdAnswer {
        guard request.isService else { throw SendbirdRefusal.notAuthorized }
        throw nothingHere
    }
}
