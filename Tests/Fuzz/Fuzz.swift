internal import Glibc

/// Feeds bytes to what reads files and texts that people write: `Fuzz TARGET [libFuzzer's options]`.
///
/// Built with `-sanitize=fuzzer -DFUZZER`, as `make fuzz` does, libFuzzer makes up the bytes; otherwise the files named
/// on the command line are tried, which is how a find is looked into.
@main
enum Fuzz {
    static func main() {
        let words = CommandLine.arguments
        guard words.count > 1, let target = Target.named[words[1]] else {
            let names = Target.named.keys.sorted().joined(separator: "|")
            print("Usage: Fuzz \(names) [FILES, or options of libFuzzer]")
            exit(2)
        }
        #if FUZZER
            exit(run(target, options: [words[0]] + words.dropFirst(2)))
        #else
            for file in words.dropFirst(2) { target(bytes(of: file)) }
        #endif
    }

    private static func bytes(of file: String) -> [UInt8] {
        guard let stream = fopen(file, "r") else { return [] }
        defer { fclose(stream) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, stream), count > 0 { all += piece[..<count] }
        return all
    }
}

#if FUZZER
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
        _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    extension Fuzz {
        // Set once before libFuzzer starts, on its only thread.
        nonisolated(unsafe) private static var current: Target.Try = { _ in }

        fileprivate static func run(_ target: @escaping Target.Try, options: [String]) -> CInt {
            current = target
            var count = CInt(options.count)
            var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = .allocate(
                capacity: options.count + 1)
            for (index, option) in options.enumerated() { words?[index] = strdup(option) }
            words?[options.count] = nil
            return runDriver(&count, &words) { pointer, count in
                Fuzz.current(Array(UnsafeBufferPointer(start: pointer, count: count)))
                return 0
            }
        }
    }
#endif
