internal import Glibc

/// Clocks, in seconds.
enum Stopwatch {
    static var now: Double { read(CLOCK_MONOTONIC) }

    /// What the calling thread has computed so far: a machine that does other things as well does not change it much.
    static var computed: Double { read(CLOCK_THREAD_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Several measurements of one thing.
struct Samples: Sendable {
    private var values: [Double] = []

    init(_ values: [Double] = []) { self.values = values.sorted() }

    mutating func add(_ value: Double) {
        values.append(value)
        values.sort()
    }

    var count: Int { values.count }
    var median: Double { quantile(0.5) }
    var least: Double { values.first ?? .nan }
    var most: Double { values.last ?? .nan }

    /// The value that the given part of all stays at or under.
    func quantile(_ part: Double) -> Double {
        guard !values.isEmpty else { return .nan }
        return values[min(values.count - 1, Int((Double(values.count) * part).rounded(.up)) - 1)]
    }
}
