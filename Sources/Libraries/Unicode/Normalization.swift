internal import CICU

extension String {
    /// The text in normalization form C.
    package var nfc: String { String(decoding: FoldedText(self, to: .exact).bytes, as: UTF8.self) }

    /// The text as patterns see it.
    package func folded(to level: FoldLevel = .plain) -> String {
        String(decoding: FoldedText(self, to: level).bytes, as: UTF8.self)
    }
}

/// Makes scalars equal that differ in case only, and no others; each stays one scalar. Written over what `out` had.
package func foldCase(_ text: UnsafeBufferPointer<UInt8>, into out: inout [UInt8]) {
    out.removeAll(keepingCapacity: true)
    if FoldedText.isASCII(text) {
        out.append(contentsOf: text)
        FoldedText.lower(&out)
        return
    }
    out.append(contentsOf: repeatElement(0, count: text.count * 3))
    let count = cicu_fold_case(text.baseAddress, Int32(text.count), &out)
    out.removeLast(out.count - Int(count))
}
