/// One page of a list that is counted from its start. The token alone says all: clients send nothing else with it.
struct Page {
    let range: Range<Int>
    let size: Int
    let previous: String?
    let next: String?

    /// Nil when the request asks for a page that cannot be.
    init?(_ request: TwilioRequest, count: Int, size usual: Int) {
        var (start, size) = (0, usual)
        if let token = request.parameter("PageToken") {
            let parts = token.split(separator: "-")
            guard parts.count == 3, parts[0] == "PT", let from = Int(parts[1]), let asked = Int(parts[2])
            else {
                return nil
            }
            (start, size) = (from, asked)
        } else if let asked = request.parameter("PageSize") {
            guard let asked = Int(asked) else { return nil }
            size = asked
        }
        guard start >= 0, (1...1000).contains(size) else { return nil }
        self.size = size
        range = min(start, count)..<min(start + size, count)
        next = range.upperBound < count ? "PT-\(range.upperBound)-\(size)" : nil
        previous = range.lowerBound > 0 ? "PT-\(max(0, range.lowerBound - size))-\(size)" : nil
    }
}
