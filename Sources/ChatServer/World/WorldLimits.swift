/// How much the world holds and takes.
package struct WorldLimits: Sendable, Equatable {
    /// Messages kept in each channel; older ones are forgotten.
    package var keep = 10_000
    package var bodyBytes = 32 * 1024
    package var attributesBytes = 4 * 1024
    package var channelAttributesBytes = 16 * 1024
    /// Characters of a friendly name, a unique name, an identity and a subject.
    package var nameLength = 256
    package var members = 1000
    package var channelsOfUser = 1000
    package var mediaOfMessage = 10
    /// Events kept for those who come back, in each Sync map.
    package var mapEvents = 1000

    package init() {}
}
