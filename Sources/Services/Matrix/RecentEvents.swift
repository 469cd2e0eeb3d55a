/// What is remembered of the last events, because later ones are about them: edits, redactions, answers in threads.
struct RecentEvents {
    struct Known {
        var room: String
        var sender: String
        var content: Content
    }

    enum Content {
        case message(thread: String?)
        case edit(of: String)
        case reaction(to: String, key: String)
        case other
    }

    private let most: Int
    private var known: [String: Known] = [:]
    private var order: [String] = []
    private var oldest = 0
    /// The edits of a message, for as long as they are known themselves.
    private var edits: [String: [String]] = [:]

    init(most: Int = 16_384) { self.most = most }

    subscript(id: String) -> Known? { known[id] }

    func edits(of id: String) -> [String] { edits[id] ?? [] }

    mutating func add(_ id: String, _ event: Known) {
        guard known.updateValue(event, forKey: id) == nil else { return }
        if case .edit(let original) = event.content { edits[original, default: []].append(id) }
        if order.count < most { return order.append(id) }
        let old = order[oldest]
        if case .edit(let original)? = known.removeValue(forKey: old)?.content {
            edits[original]?.removeAll { $0 == old }
            if edits[original]?.isEmpty == true { edits[original] = nil }
        }
        order[oldest] = id
        oldest = (oldest + 1) % most
    }
}
