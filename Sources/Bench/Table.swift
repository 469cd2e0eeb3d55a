internal import Glibc

/// The figures, one a line: what was measured, what was aimed at, and what it is compared with in the same run.
struct Table {
    private static let widths = (name: 48, value: 22, aim: 14)

    static func begin() {
        line("", "measured", "aim", "beside it, in the same run")
    }

    static func section(_ title: String) {
        say("\n\(title)")
    }

    static func line(_ name: String, _ value: String, _ aim: String = "", _ beside: String = "") {
        say(
            pad("  " + name, widths.name) + pad(value, widths.value) + pad(aim, widths.aim)
                + beside)
    }

    /// At once, also into a pipe.
    private static func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension Double {
    /// `412,300`, to three or four digits.
    var rate: String {
        guard isFinite else { return "-" }
        let step: Double = self >= 100_000 ? 1000 : self >= 10_000 ? 100 : 1
        var digits = String(Int((self / step).rounded() * step))
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return digits
    }

    /// With so many digits behind the point.
    func fixed(_ places: Int) -> String {
        guard isFinite else { return "-" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((magnitude * scale).rounded())
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return sign + String(scaled) }
        let rest = String(scaled % Int(scale))
        return "\(sign)\(scaled / Int(scale))." + String(repeating: "0", count: places - rest.count) + rest
    }
}
