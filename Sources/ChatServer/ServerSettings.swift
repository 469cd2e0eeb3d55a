/// How the chat server is set up.
package struct ServerSettings: Sendable {
    /// The address to listen on; loopback unless told otherwise.
    package var host = "127.0.0.1"
    /// 0 takes any that is free.
    package var port: UInt16 = 0
    /// The file that keeps the world; nil keeps it in memory, under names that no other world has.
    package var state: String?
    /// Identities that are channel admins everywhere.
    package var admins: Set<String> = []
    /// Other names that nobody on the page may take without a token.
    package var keptBack: Set<String> = []
    /// Unique names of channels that are private, whoever makes them, also when they were not before.
    package var privateChannels: Set<String> = []
    /// What a program must present to get a token, and a person to come in. Needed off loopback.
    package var secret: String?
    /// Messages kept in each channel.
    package var keep: Int {
        get { limits.keep }
        set { limits.keep = newValue }
    }
    package var limits = WorldLimits()
    /// Writes a second in one channel before the answer is 429; nil for no limit.
    package var writesPerSecond: Int? = 30
    /// The largest file taken, in bytes.
    package var mediaBytes = 9 * 1024 * 1024
    package var pingInterval: Duration = .seconds(30)
    /// How long before its end a token is said to expire soon; never more than a tenth of its life.
    package var warnBeforeExpiry: Duration = .seconds(240)
    /// Whether `POST /faults` makes things go wrong, for tests.
    package var faultsOverHTTP = false
    /// How Sendbird's clients are served.
    package var sendbird = SendbirdSettings()
    /// Names and key of the service; made up when nil, and kept in `state`.
    package var names: ServiceNames?

    package init() {}
}
