internal import Chat

/// How an account stands with its service and with steward.
struct Standing {
    var reported: ServiceStatus?
    /// Everything is read: all channels, nothing missing.
    var isComplete = false
    var isDelivering = false
    var isClosed = false
    /// Steward took no events; until then none is read again.
    var behindUntil: Timestamp?
    var behindComplaint = Complaint(every: .seconds(60))
}
