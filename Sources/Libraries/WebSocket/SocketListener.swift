import Glibc

/// A listening socket whose connections somebody takes.
package final class SocketListener: Sendable {
    /// Is given a connection, which does not block, and its peer's `sockaddr` with its size. False: no more until
    /// `resume`. The address is raw bytes, because which C module owns the type depends on the configuration.
    package typealias Take = @Sendable (Int32, UnsafeRawPointer, UInt32) -> Bool

    let descriptor: Int32
    let key: UInt64
    let take: Take
    let onShortage: @Sendable (String) -> Void
    private let mailbox: LoopMailbox

    init(
        descriptor: Int32, onShortage: @escaping @Sendable (String) -> Void, take: @escaping Take,
        mailbox: LoopMailbox
    ) {
        self.descriptor = descriptor
        self.take = take
        self.onShortage = onShortage
        self.mailbox = mailbox
        key = mailbox.nextKey()
    }

    /// There is room again.
    package func resume() {
        mailbox.put(.poke(key))
    }

    /// Closes the listening socket; `take` is not called any more once this returns.
    package func stop() async {
        await withCheckedContinuation { continuation in
            if !mailbox.put(.stopAccepting(key, continuation)) { continuation.resume() }
        }
    }
}

extension SocketLoop {
    /// Takes connections from a listening descriptor that does not block, and owns it from now on. `take` is called on
    /// the loop's thread, so it must be quick. So is `onShortage`, with what the system has too little of, once a minute at
    /// most. Nil when the loop is over.
    package func accept(
        from descriptor: Int32, onShortage: @escaping @Sendable (String) -> Void = { _ in },
        _ take: @escaping SocketListener.Take
    ) -> SocketListener? {
        let listener = SocketListener(
            descriptor: descriptor, onShortage: onShortage, take: take, mailbox: mailbox)
        if mailbox.put(.accept(listener)) { return listener }
        Glibc.close(descriptor)
        return nil
    }
}
