internal import Chat

/// The bytes of uploaded files: in the store, or in memory up to a bound.
final class MediaShelf: Sendable {
    private let store: WorldStore?
    private let kept = Locked<(contents: [SID: [UInt8]], bytes: Int)>(([:], 0))
    private let bound = 64 * 1024 * 1024

    init(store: WorldStore?) {
        self.store = store
    }

    /// False when there is no more room in memory, also without the files that nobody `knows` any more. With a store
    /// the bytes travel with the world's change.
    func put(_ content: [UInt8], for media: SID, knows: (SID) -> Bool) -> Bool {
        guard store == nil else { return true }
        return kept.withLock { kept in
            if kept.bytes + content.count > bound {
                kept.contents = kept.contents.filter { knows($0.key) }
                kept.bytes = kept.contents.values.reduce(0) { $0 + $1.count }
            }
            guard kept.bytes + content.count <= bound else { return false }
            kept.contents[media] = content
            kept.bytes += content.count
            return true
        }
    }

    func content(of media: SID) async throws -> [UInt8]? {
        if let store { return try await store.content(of: media) }
        return kept.withLock { $0.contents[media] }
    }
}
