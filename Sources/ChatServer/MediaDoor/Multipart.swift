/// The file in a form of type `multipart/form-data`.
struct Multipart {
    struct File: Equatable {
        var name: String?
        var type: String
        var content: [UInt8]
    }

    let file: File

    /// The first part with a file name, else the first part; nil when the body is no such form.
    init?(type: String, body: [UInt8]) {
        guard let boundary = Self.parameter("boundary", of: type), !boundary.isEmpty else { return nil }
        let mark = Array("--\(boundary)".utf8)
        guard body.starts(with: mark) else { return nil }
        var files: [File] = []
        var rest = body[...].dropFirst(mark.count)
        while rest.starts(with: lineEnd), let end = Self.find(lineEnd + mark, in: rest) {
            guard let file = Self.part(rest[rest.startIndex + 2..<end]) else { return nil }
            files.append(file)
            rest = rest[(end + 2 + mark.count)...]
        }
        guard let file = files.first(where: { $0.name != nil }) ?? files.first else { return nil }
        self.file = file
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> File? {
        guard let end = find(lineEnd + lineEnd, in: bytes) else { return nil }
        var file = File(name: nil, type: "application/octet-stream", content: Array(bytes[(end + 4)...]))
        for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n") {
            let sides = line.split(separator: ":", maxSplits: 1)
            guard sides.count == 2 else { continue }
            let value = String(sides[1].drop { $0 == " " })
            switch sides[0].lowercased() {
            case "content-type": file.type = value
            case "content-disposition": file.name = parameter("filename", of: value)
            default: break
            }
        }
        return file
    }

    private static func parameter(_ name: String, of field: String) -> String? {
        for piece in field.split(separator: ";").dropFirst() {
            let sides = piece.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].drop(while: { $0 == " " }).lowercased() == name else { continue }
            return sides[1].filter { $0 != "\"" }
        }
        return nil
    }

    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = needle.first, bytes.count >= needle.count else { return nil }
        var place = bytes.startIndex
        while let hit = bytes[place...].firstIndex(of: first), hit + needle.count <= bytes.endIndex {
            if bytes[hit..<hit + needle.count].elementsEqual(needle) { return hit }
            place = hit + 1
        }
        return nil
    }
}

private let lineEnd: [UInt8] = [13, 10]
