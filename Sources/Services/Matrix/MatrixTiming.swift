/// How long things may take.
package struct MatrixTiming: Sendable {
    /// How long the server may hold an answer to a sync while nothing happens.
    package var poll = Duration.seconds(30)
    /// How much later than that it may come before the connection counts as dead.
    package var slack = Duration.seconds(15)
    /// For a first sync, which may be the work of minutes for the server.
    package var firstSync = Duration.seconds(300)
    /// For any other request.
    package var request = Duration.seconds(30)
    /// Joining a room of another server.
    package var join = Duration.seconds(180)
    package var upload = Duration.seconds(300)
    /// The first pause between attempts to sync, and the longest.
    package var firstPause = Duration.milliseconds(250)
    package var longestPause = Duration.seconds(30)
    /// How long to wait when steward has too many events.
    package var behind = Duration.milliseconds(300)
    /// The first pause before a room that could not be joined is tried again, and the longest.
    package var firstJoinPause = Duration.seconds(5)
    package var longestJoinPause = Duration.seconds(600)

    package init() {}
}
