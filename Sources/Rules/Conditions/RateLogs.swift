internal import Chat

/// What counted in one window lately, for each user, channel or whatever is counted by itself.
///
/// All of it stands in one ring in the order of its coming, and each entry knows the one before it of the same key. What
/// is over leaves at the front: a window takes no more room than what it still counts, however many people there are.
struct RateLogs: Sendable {
    /// Flat, so that to let go of it touches nothing else: what it points to would be long out of the cache.
    private struct Slot: Sendable {
        var id = SIMD64<UInt8>()
        var key: UInt64 = 0
        /// The number of the entry before it, by time; 0 when it is the first.
        var before: Int64 = 0
        var time: Int64 = 0
        /// When it came, by our own clock.
        var came: Int64 = 0
        /// -1: none.
        var index: Int64 = -1
        var amount: Int32 = 0
        /// What its channel has not got beyond is not over.
        var place: UInt32 = 0
    }

    /// What few windows need.
    private struct More: Sendable {
        let user: UserID?
        let channel: ChannelID?
        /// An id that is longer than most.
        let id: String?

        init?(_ entry: RateEntry) {
            if entry.user == nil, entry.channel == nil, entry.id.long == nil { return nil }
            user = entry.user
            channel = entry.channel
            id = entry.id.long
        }
    }

    private var ring: [Slot] = []
    /// By the numbers of their entries.
    private var more: [Int64: More] = [:]
    /// As long as the ring once there is a text among them.
    private var sketches: [TextSketch?] = []
    /// Entries are numbered from 1 on. The first that is held, and the next that will be.
    private var first: Int64 = 1
    private var next: Int64 = 1
    /// The number of each key's latest entry.
    private var latest = NumberTable()
    /// The time of the latest entry of each channel.
    private var times = NumberTable()

    /// So many of one key are looked at, and so many are held in all.
    static let mostOfOne = 10_000
    static let most = 200_000
    /// A channel that is read late is waited for so long.
    private static let patience: Int64 = 600_000
    private static let mostChannels = 20_000

    /// How many entries it holds.
    var count: Int { Int(next - first) }

    /// Each counts once, however often it is told; a text that was edited counts as what it says now. `place`: the number
    /// of its channel, `window`: how long it counts, in milliseconds.
    mutating func add(
        _ entry: RateEntry, isEdit: Bool, to key: UInt64, place: UInt32, window: Int64, at now: Timestamp
    ) {
        letGo(window, at: now.milliseconds)
        var after: Int64 = 0
        var before = latest[key] ?? 0
        while before >= first, ring[slot(before)].time > entry.time {
            after = before
            before = ring[slot(before)].before
        }
        // One that was counted has the same time, unless it was edited.
        var known = before
        while known >= first, ring[slot(known)].time == entry.time || isEdit {
            if ring[slot(known)].id == entry.id.packed, more.isEmpty || more[known]?.id == entry.id.long {
                set(entry.sketch, at: slot(known))
                return
            }
            known = ring[slot(known)].before
        }
        let number = append(
            Slot(
                id: entry.id.packed, key: key, before: before, time: entry.time, came: now.milliseconds,
                index: entry.index ?? -1, amount: Int32(clamping: entry.amount), place: place), entry.sketch)
        if let more = More(entry) { self.more[number] = more }
        if after == 0 {
            latest.set(number, for: key) { [first] in $0 >= first }
        } else {
            ring[slot(after)].before = number
        }
        guard place != 0, entry.time > times[UInt64(place)] ?? .min else { return }
        if times.count > Self.mostChannels { times.removeAll() }
        times.set(entry.time, for: UInt64(place))
    }

    /// Reads what there is of these keys, so that it is near when they are counted.
    func touch(_ keys: [UInt64]) -> Int64 {
        var sum: Int64 = 0
        for key in keys { sum &+= latest.touch(key) }
        for key in keys {
            if let number = latest[key], number >= first { sum &+= ring[slot(number)].time }
        }
        return sum
    }

    /// Whether the rate is reached; it is counted no further than that. Mutating, so that it is asked where it stands.
    mutating func isReached(_ rate: RateBound, _ key: UInt64, at now: Timestamp, like sketch: TextSketch?)
        -> Bool
    {
        let end = now.milliseconds
        let start = end - rate.span
        var total = 0
        var seen: Set<UInt32> = []
        look(key) { time, amount, number in
            if time <= start { return false }
            guard time <= end, fits(number, rate.kind, sketch) else { return true }
            switch rate.distinct {
            case nil: total += amount
            case .user: if seen.insert(user(number)?.identity.number ?? 0).inserted { total += 1 }
            case .channel: if seen.insert(channel(number)?.identity.number ?? 0).inserted { total += 1 }
            }
            return total < rate.count
        }
        return total >= rate.count
    }

    /// Whether its text is like that one, where the rate asks for that.
    func fits(_ number: Int64, _ kind: BotRate.Kind, _ sketch: TextSketch?) -> Bool {
        guard kind.looksAtText else { return true }
        guard let sketch, let other = self.sketch(number) else { return false }
        return kind == .similar ? other.resembles(sketch) : other.hash == sketch.hash
    }

    /// Looks at the entries of a key, the latest first, until the closure says that it is enough.
    func look(_ key: UInt64, _ body: (_ time: Int64, _ amount: Int, _ number: Int64) -> Bool) {
        var number = latest[key] ?? 0
        var left = Self.mostOfOne
        while number >= first, left > 0 {
            let slot = slot(number)
            if !body(ring[slot].time, Int(ring[slot].amount), number) { return }
            number = ring[slot].before
            left -= 1
        }
    }

    private func sketch(_ number: Int64) -> TextSketch? { sketches.isEmpty ? nil : sketches[slot(number)] }
    private func user(_ number: Int64) -> UserID? { more[number]?.user }
    private func channel(_ number: Int64) -> ChannelID? { more[number]?.channel }

    func entry(_ number: Int64) -> RateEntry {
        let slot = ring[slot(number)]
        let more = more[number]
        return RateEntry(
            time: slot.time, id: RateID(packed: slot.id, long: more?.id),
            index: slot.index < 0 ? nil : slot.index, user: more?.user, channel: more?.channel,
            amount: Int(slot.amount), sketch: sketch(number))
    }

    // MARK: The ring

    private func slot(_ number: Int64) -> Int { Int(number) & (ring.count - 1) }

    private mutating func set(_ sketch: TextSketch?, at slot: Int) {
        if sketches.isEmpty {
            if sketch == nil { return }
            sketches = [TextSketch?](repeating: nil, count: ring.count)
        }
        sketches[slot] = sketch
    }

    private mutating func append(_ new: Slot, _ sketch: TextSketch?) -> Int64 {
        if count == ring.count { grow() }
        let number = next
        next += 1
        ring[slot(number)] = new
        set(sketch, at: slot(number))
        return number
    }

    private mutating func grow() {
        let (old, oldSketches) = (ring, sketches)
        ring = [Slot](repeating: Slot(), count: max(64, old.count * 2))
        if !oldSketches.isEmpty { sketches = [TextSketch?](repeating: nil, count: ring.count) }
        for number in first..<next {
            let place = Int(number) & (old.count - 1)
            ring[slot(number)] = old[place]
            if !oldSketches.isEmpty { sketches[slot(number)] = oldSketches[place] }
        }
    }

    /// What is over at the front goes. What is not over by the time of its own channel, because that channel is read
    /// late or quiet, goes to the end once more, so that it does not keep the rest.
    private mutating func letGo(_ window: Int64, at now: Int64) {
        // Two for one, and not at each.
        guard next & 7 == 0 || count >= Self.most else { return }
        for _ in 0..<16 where first < next {
            let number = first
            let place = slot(number)
            let isOver =
                count >= Self.most
                || ring[place].time <= (times[UInt64(ring[place].place)] ?? .min) - window
                || ring[place].came <= now - window - Self.patience
            if !isOver, ring[place].came > now - window - window / 4 - 1000 { return }
            first += 1
            let extra = more.isEmpty ? nil : more.removeValue(forKey: number)
            if isOver {
                set(nil, at: place)
            } else {
                let (old, sketch) = (ring[place], sketches.isEmpty ? nil : sketches[place])
                set(nil, at: place)
                let new = append(old, sketch)
                if let extra { more[new] = extra }
                relink(old.key, from: number, to: new)
            }
        }
    }

    private mutating func relink(_ key: UInt64, from old: Int64, to new: Int64) {
        guard var number = latest[key] else { return }
        if number == old { return latest.set(new, for: key) }
        while number >= first {
            let place = slot(number)
            if ring[place].before == old { return ring[place].before = new }
            number = ring[place].before
        }
    }
}
