import CCurl

/// Drives libcurl. Made and used on its thread only, which the compiler checks: it is not Sendable.
final class TransferLoop {
    private let mailbox: TransferMailbox
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UInt64: Transfer] = [:]

    init?(mailbox: TransferMailbox) {
        guard curlIsReady, let multi = curl_multi_init() else { return nil }
        self.mailbox = mailbox
        self.multi = multi
        // Kept for the next request, beyond those in use.
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 32)
    }

    deinit { curl_multi_cleanup(multi) }

    func run() {
        mailbox.wake(at: multi)
        repeat {
            var isStopping = false
            while !isStopping {
                isStopping = turn()
            }
            for transfer in Array(transfers.values) { end(transfer, .failure(transfer.order.cancelled)) }
            mailbox.wake(at: nil)
        } while !mailbox.endIfEmpty()
    }

    /// True when it is time to stop.
    private func turn() -> Bool {
        let (letters, isStopping) = mailbox.drain()
        for letter in letters {
            switch letter {
            case .start(let order): start(order)
            case .cancel(let id):
                if let transfer = transfers[id] { end(transfer, .failure(transfer.order.cancelled)) }
            }
        }
        if isStopping { return true }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var code = CURLE_OK
        while let easy = ccurl_multi_next_done(multi, &code) {
            guard let transfer = transfers.values.first(where: { $0.easy == easy }) else { continue }
            end(transfer, transfer.outcome(code))
        }
        // Woken by the mailbox; libcurl itself shortens the wait when something of its own is due.
        curl_multi_poll(multi, nil, 0, 60_000, nil)
        return false
    }

    private func start(_ order: TransferOrder) {
        if order.isOver { return }
        guard let transfer = Transfer(order), curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
            order.finish(.failure(HTTPError(.unreachable, "\(order.host): out of memory")))
            return
        }
        transfers[order.id] = transfer
    }

    private func end(_ transfer: Transfer, _ outcome: TransferOrder.Outcome) {
        curl_multi_remove_handle(multi, transfer.easy)
        transfers[transfer.order.id] = nil
        transfer.order.finish(outcome)
    }
}

/// libcurl is set up once, before its first use.
let curlIsReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
