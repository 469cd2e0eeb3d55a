/// How Sendbird's clients are served.
package struct SendbirdSettings: Sendable {
    /// What clients call the application, a UUID; made of the service's name when nil.
    package var application: String?
    /// The token that the Platform API asks for; nil keeps that closed. It signs webhooks, too.
    package var apiToken: String?
    /// Seconds without a word from a client until it pings, and until it takes the server for gone.
    package var pingInterval = 15
    package var pongTimeout = 5
    /// Whoever is asked into a group channel is in at once.
    package var acceptsInvitations = true
    /// How long a session's key lasts, and how long before its end that is said.
    package var sessionLife: Duration = .seconds(3600)
    package var sessionWarning: Duration = .seconds(60)
    /// Seconds until a client tries again, at first and at most, by which factor it waits longer, and how often it tries.
    package var reconnect = (interval: 3.0, longest: 24.0, factor: 2, tries: 5)
    /// Frames of at least so many bytes go out compressed to clients that take that.
    package var gzipFrom = 4096
    /// Channels with more members tell only how many there are, not who comes and goes.
    package var crowd = 100
    /// How long a webhook may take, and how long until it is tried again.
    package var hookTimeout: Duration = .seconds(5)
    package var hookPause: Duration = .seconds(1)
}
