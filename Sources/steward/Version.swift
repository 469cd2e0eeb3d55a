/// What `steward version` prints and services are told.
enum Version {
    static let current = "0.1.0"
}
