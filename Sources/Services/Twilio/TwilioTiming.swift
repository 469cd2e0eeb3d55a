/// How long things may take.
package struct TwilioTiming: Sendable {
    package var connect = Duration.seconds(10)
    package var initReply = Duration.seconds(10)
    package var reply = Duration.seconds(30)
    /// Silence after which the connection counts as dead.
    package var silence = Duration.seconds(45)
    /// How long an early event waits for the one before it.
    package var reorder = Duration.milliseconds(250)
    /// How often all these are looked at.
    package var tick = Duration.milliseconds(100)
    /// The first pause between attempts to connect, and the longest.
    package var firstPause = Duration.milliseconds(250)
    package var longestPause = Duration.seconds(60)
    /// How long to drop events when steward has too many.
    package var behind = Duration.milliseconds(300)

    /// How long events wait for what people are called.
    package var name = Duration.milliseconds(500)

    package init() {}
}
