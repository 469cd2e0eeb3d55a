/// Sends requests, many at a time, over connections it keeps. Speaks HTTP/1.1, through the proxy the environment names.
///
/// One thread of its own does the work; it starts with the first request and ends with `shutdown`, or when nobody holds
/// the client any more.
package final class HTTPClient: Sendable {
    private let mailbox = TransferMailbox()
    private let trusting: String?

    /// `trusting` names a file of certificates to believe instead of the system's.
    package init(trusting: String? = nil) {
        self.trusting = trusting
    }

    deinit { mailbox.stop() }

    /// The server's answer, whatever its status. Cancelling the task ends the request at once.
    /// A request that may already have reached the server is not repeated, unless its method is one that may be.
    package func send(_ request: OutgoingRequest) async throws(HTTPError) -> IncomingAnswer {
        let order = try TransferOrder(id: mailbox.nextID(), request, trusting: trusting)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if order.begin(continuation) { mailbox.put(.start(order)) }
            }
        } onCancel: {
            order.finish(.failure(order.cancelled))
            mailbox.put(.cancel(order.id))
        }
        return try outcome.get()
    }

    /// Ends all requests, which throw `.cancelled`, and closes the connections. May be called again, and by several at
    /// once.
    package func shutdown() async {
        mailbox.stop()
        await mailbox.ended()
    }
}
