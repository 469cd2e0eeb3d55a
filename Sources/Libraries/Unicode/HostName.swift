internal import CICU

/// A host name as it is compared and looked up: lower case, in ASCII (UTS #46, not transitional), without the
/// trailing dot. Nil if it is none.
package func asciiHost(_ host: String) -> String? {
    var host = host[...]
    if host.last == "." || host.last == "。" { host.removeLast() }
    guard !host.isEmpty, host.utf8.count <= 1024 else { return nil }
    var out = [UInt8](repeating: 0, count: 2048)
    var text = String(host)
    let count = text.withUTF8 { cicu_host_to_ascii($0.baseAddress, Int32($0.count), &out, Int32(out.count)) }
    guard count > 0 else { return nil }
    let name = out[..<Int(count)]
    // ICU lets pass what no name may contain when it is not asked for the strict rules, which forbid "_".
    let isName = name.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 46 || $0 == 95
    }
    return isName ? String(decoding: name, as: UTF8.self) : nil
}
