internal import JSON
internal import Matching
internal import Services
internal import Unicode

/// The work that cannot be left out, and nothing else: both documents of a frame parsed and the fields copied, the text
/// folded and scanned.
struct Bare {
    private let json = JSONReader()
    private let patterns: PatternSet
    private var folded = FoldedText()
    private var scratch = ScanScratch()
    private(set) var texts = 0
    private(set) var hits = 0

    init(_ keywords: some Sequence<String>) {
        patterns = PatternSet(phrases: keywords.map { Phrase($0) })
    }

    mutating func take(_ frames: Frames, _ range: Range<Int>) {
        frames.read(range) { frame in
            guard let text = decode(frame) else { return }
            scan(text)
        }
    }

    private func decode(_ frame: UnsafeRawBufferPointer) -> String? {
        guard let range = try? TwilsockFrame.header(in: frame),
            let size = try? json.read(
                UnsafeRawBufferPointer(rebasing: frame[range]),
                { header in
                    _ = header["id"]?.withUTF8 { TwilsockFrame.acknowledgement(of: $0) }
                    return header["payload_size"]?.int
                }),
            let payload = try? TwilsockFrame.payload(of: size, after: range, in: frame)
        else { return nil }
        return try? json.read(UnsafeRawBufferPointer(rebasing: frame[payload])) { payload in
            let item = payload["events"]?[0]?["item_data"]
            _ = item?["sid"]?.string
            _ = item?["author"]?.string
            return item?["text"]?.string
        }
    }

    mutating func scan(_ text: String) {
        folded.fold(text, to: .plain)
        patterns.scan(folded, of: text, using: &scratch)
        texts += 1
        hits += scratch.hits.count
    }
}
