internal import Chat

/// The last messages of one channel, in one ring of bytes.
///
/// `@unchecked Sendable`: what `bytes` points to belongs to the one history that these lines are part of.
struct HistoryLines: @unchecked Sendable {
    private(set) var channel: Channel
    private(set) var latest = Timestamp(milliseconds: 0)
    private(set) var count = 0
    // Lines stand from `first` to `next`, or, once they go on at the beginning, from `first` to `last` and from 0 to `next`.
    private var first = 0
    private var next = 0
    private var last: Int?
    private var block = Block(size: 0)
    private var bytes: UnsafeMutableRawPointer
    private var size = 0

    private final class Block {
        let bytes: UnsafeMutableRawPointer

        init(size: Int) {
            bytes = .allocate(byteCount: size, alignment: 64)
            bytes.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        }

        deinit { bytes.deallocate() }
    }

    init(_ channel: Channel) {
        self.channel = channel
        bytes = block.bytes
    }

    /// That of its channel.
    var number: UInt32 { channel.id.identity.number }

    /// Oldest first.
    func lines(in realms: (UInt16) -> Realm) -> [HistoryLine] {
        var lines: [HistoryLine] = []
        lines.reserveCapacity(count)
        var place = first
        for _ in 0..<count {
            if place == last { place = 0 }
            let line = UnsafeRawBufferPointer(
                start: bytes + place, count: HistoryLine.size(at: bytes + place))
            lines.append(HistoryLine(from: line, in: realms))
            place += line.count
        }
        withExtendedLifetime(block) {}
        return lines
    }

    /// Reads where the next line will stand, so that it is near when it is written.
    func touch() -> UInt8 {
        // The first may have to go for it.
        var sum = count == 0 ? 0 : UInt8(truncatingIfNeeded: HistoryLine.size(at: bytes + first))
        // As long as most lines, in steps of what the processor fetches at once.
        for place in stride(from: next, to: min(next + 320, size), by: 64) {
            sum &+= bytes.load(fromByteOffset: place, as: UInt8.self)
        }
        return sum
    }

    /// By how many lines there are more with it.
    mutating func add(_ line: UnsafeRawBufferPointer, of event: ChatEvent) -> Int {
        if !event.isIn(channel), let channel = event.channel { self.channel = channel }
        latest = event.sentAt
        let isFull = count == History.most
        if isFull { dropFirst() }
        makeRoom(for: line.count)
        if let start = line.baseAddress { (bytes + next).copyMemory(from: start, byteCount: line.count) }
        next += line.count
        count += 1
        return isFull ? 0 : 1
    }

    private mutating func dropFirst() {
        first += HistoryLine.size(at: bytes + first)
        count -= 1
        if first == last {
            first = 0
            last = nil
        }
    }

    private mutating func makeRoom(for more: Int) {
        if last != nil {
            if next + more <= first { return }
        } else if next + more <= size {
            return
        } else if more <= first {
            last = next
            next = 0
            return
        }
        let (behind, before) = (last ?? next, last == nil ? 0 : next)
        let held = behind - first + before
        size = max(512, size * 2, (held + more) * 5 / 4)
        let new = Block(size: size)
        new.bytes.copyMemory(from: bytes + first, byteCount: behind - first)
        (new.bytes + (behind - first)).copyMemory(from: bytes, byteCount: before)
        block = new
        bytes = new.bytes
        (first, next, last) = (0, held, nil)
    }
}
