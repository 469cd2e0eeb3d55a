internal import FoundationEssentials

/// The variables the program was started with.
enum Environment {
    static var current: [String: String] { ProcessInfo.processInfo.environment }
}
