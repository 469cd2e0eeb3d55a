import CSockets
import Glibc

/// One thread that moves the bytes of any number of WebSockets, theirs and ours.
///
/// It ends with `shutdown`, or in haste when nobody holds it any more.
package final class SocketLoop: Sendable {
    let mailbox: LoopMailbox

    package init() throws(WebSocketError) {
        let epoll = sockets_epoll()
        let bell = sockets_bell()
        guard epoll >= 0, bell >= 0 else {
            let reason = systemError()
            if epoll >= 0 { Glibc.close(epoll) }
            if bell >= 0 { Glibc.close(bell) }
            throw WebSocketError(.exhausted, "cannot start the socket loop: \(reason)")
        }
        let mailbox = LoopMailbox(bell: bell)
        self.mailbox = mailbox
        guard startThread("sockets", { Hub(mailbox: mailbox, epoll: epoll).run() }) else {
            Glibc.close(epoll)
            throw WebSocketError(.exhausted, "cannot start the socket loop: no more threads")
        }
    }

    deinit { mailbox.put(.stop(at: 0)) }

    /// Says goodbye (1001) on every socket, and returns when all are gone: after `grace` at the latest.
    /// May be called again, and by several at once.
    package func shutdown(grace: Duration) async {
        mailbox.put(.stop(at: monotonicSeconds() + grace.inSeconds))
        await mailbox.ended()
    }

    /// Reads what still comes on a descriptor whose own side has finished, until the peer leaves too or for `limit`.
    /// Closing at once, with input unread, would make the peer lose our last words. The loop closes the descriptor.
    package func linger(_ descriptor: Int32, for limit: Duration) {
        if !mailbox.put(.linger(descriptor, until: monotonicSeconds() + limit.inSeconds)) {
            Glibc.close(descriptor)
        }
    }
}

/// What the system says of the last call that failed.
package func systemError(_ code: Int32 = errno) -> String {
    String(cString: strerror(code)).lowercased()
}
